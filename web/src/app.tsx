/** The page: the view of the person who is signed in. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import type { Me } from "./api";
import { Auth } from "./auth";
import { Banner, Loading } from "./components";
import { ExperimenterView } from "./experimenter/experimenter";
import { Lazy } from "./lazy";
import { PendingRequests } from "./pending";
import type { Server } from "./server";
import { DropZone } from "./sessions/drop-zone";
import { SessionView } from "./session-view";
import { SignInPage } from "./sign-in";
import { Study } from "./study/study";
import { openView, useTab } from "./teach/tabs";
import { Teach } from "./teach/teach";
import { readTheme } from "./theme";

type Role = NonNullable<Me["role"]>;

export function App({ storage }: { storage: Storage }): JSX.Element {
  const auth = useMemo(() => new Auth(storage), [storage]);
  useEffect(() => {
    const start = (): void => void auth.start();
    start();
    const follow = (): void => auth.followAddress();
    window.addEventListener("hashchange", start); // a link was pasted into the address bar
    window.addEventListener("popstate", follow); // or another session was opened
    readTheme(storage);
    return () => {
      window.removeEventListener("hashchange", start);
      window.removeEventListener("popstate", follow);
    };
  }, [auth]);
  const me = auth.me.value;
  const failure = auth.failure.value;
  return (
    <div class="page">
      {auth.unavailable.value && <Banner message={auth.unavailable.value} />}
      {failure && <Banner {...failure} />}
      {!me && !failure && <Loading message="Loading…" />}
      {me && <RoleView auth={auth} storage={storage} />}
      {me?.manages && <DropZone />}
      {me?.role && <Footer role={me.role} leaves={!me.manages || me.session !== null} version={me.version} onSignOut={() => void auth.signOut()} />}
    </div>
  );
}

function RoleView({ auth, storage }: { auth: Auth; storage: Storage }): JSX.Element {
  const [view] = useTab();
  const role = auth.me.value?.role ?? null;
  const onSecret = (secret: string): void => void auth.signIn(secret);
  if (role === null) return <SignInPage message={auth.message.value} busy={auth.busy.value} onSecret={onSecret} />;
  const { server } = auth;
  const manages = auth.me.value?.manages ?? false;
  if (manages && (view === "sessions" || server.session === null)) {
    return <Lazy load={() => import("./sessions/sessions").then((one) => one.SessionsPage)} props={{ server, storage }} />;
  }
  if (role === "experimenter") return <ExperimenterView server={auth.server} />;
  return <OwnSession role={role} manages={manages} server={server} storage={storage} />;
}

interface OwnSessionProps {
  role: Role;
  manages: boolean;
  server: Server;
  storage: Storage;
}

function OwnSession({ role, manages, server, storage }: OwnSessionProps): JSX.Element {
  const name = server.session ?? "";
  return (
    <SessionView key={`${role} ${name}`} server={server} pending={new PendingRequests(storage, name)} onClose={manages ? () => rest(server, name) : undefined}>
      {(props) => (role === "participant" ? <Study {...props} /> : <Teach {...props} server={server} storage={storage} manages={manages} />)}
    </SessionView>
  );
}

/** Nothing more need be prepared for a session that this window shows no longer. */
function rest(server: Server, session: string): void {
  server.post("/api/session/rest", {}, session).catch(() => undefined); // it only saves the server some work
}

interface FooterProps {
  role: Role;
  leaves: boolean; // not from the list of sessions before one is open
  version: string;
  onSignOut: () => void;
}

/** A teacher leaves, and is told how to come back; others sign out. */
function Footer({ role, leaves, version, onSignOut }: FooterProps): JSX.Element {
  const teaches = role === "teacher";
  return (
    <footer class="footer">
      <span>Prefero {version}</span>
      {leaves && (
        <button type="button" class="link-button" onClick={teaches ? () => openView("leave") : onSignOut}>
          {teaches ? "Leave" : "Sign out"}
        </button>
      )}
    </footer>
  );
}
