/** The page: the view of the person who is signed in. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import type { Me } from "./api";
import { Auth } from "./auth";
import { Banner, Loading, LoadingOrError, ProblemBanner } from "./components";
import { ExperimenterView } from "./experimenter/experimenter";
import { useLoad } from "./hooks";
import { PendingRequests } from "./pending";
import type { Server } from "./server";
import { Session } from "./session";
import { SignInPage } from "./sign-in";
import { Study } from "./study/study";
import { openView } from "./teach/tabs";
import { Teach } from "./teach/teach";
import { Trajectories } from "./trajectories";

type Role = NonNullable<Me["role"]>;

export function App({ storage }: { storage: Storage }): JSX.Element {
  const auth = useMemo(() => new Auth(storage), [storage]);
  useEffect(() => {
    const start = (): void => void auth.start();
    start();
    window.addEventListener("hashchange", start); // a link was pasted into the address bar
    return () => window.removeEventListener("hashchange", start);
  }, [auth]);
  const me = auth.me.value;
  const failure = auth.failure.value;
  return (
    <div class="page">
      {auth.unavailable.value && <Banner message={auth.unavailable.value} />}
      {failure && <Banner {...failure} />}
      {!me && !failure && <Loading message="Loading…" />}
      {me && <RoleView auth={auth} storage={storage} />}
      {me?.role && <Footer role={me.role} version={me.version} onSignOut={() => void auth.signOut()} />}
    </div>
  );
}

function RoleView({ auth, storage }: { auth: Auth; storage: Storage }): JSX.Element {
  const role = auth.me.value?.role ?? null;
  const onSecret = (secret: string): void => void auth.signIn(secret);
  if (role === null) return <SignInPage message={auth.message.value} busy={auth.busy.value} onSecret={onSecret} />;
  if (role === "experimenter") return <ExperimenterView server={auth.server} />;
  const name = auth.me.value?.session ?? "";
  return <SessionView key={`${role} ${name}`} role={role} server={auth.server} pending={new PendingRequests(storage, name)} />;
}

interface SessionViewProps {
  role: "teacher" | "participant";
  server: Server;
  pending: PendingRequests;
}

/** Loads the session's state and how trajectories are shown. */
function SessionView({ role, server, pending }: SessionViewProps): JSX.Element {
  const session = useMemo(() => new Session(server, pending), []);
  const trajectories = useLoad(() => Trajectories.open(server), "scene");
  useEffect(() => {
    void session.open();
    return () => session.close();
  }, [session]);
  const state = session.state.value;
  if (!state && session.problem.value) return <ProblemBanner problem={session.problem.value} />;
  if (!state || !trajectories.value) return <LoadingOrError problem={trajectories.problem} retry={trajectories.retry} message="Loading…" />;
  if (role === "participant") return <Study session={session} state={state} trajectories={trajectories.value} />;
  return <Teach session={session} state={state} trajectories={trajectories.value} server={server} />;
}

/** A teacher leaves, and is told how to come back; others sign out. */
function Footer({ role, version, onSignOut }: { role: Role; version: string; onSignOut: () => void }): JSX.Element {
  const teaches = role === "teacher";
  return (
    <footer class="footer">
      <span>Prefero {version}</span>
      <button type="button" class="link-button" onClick={teaches ? () => openView("leave") : onSignOut}>
        {teaches ? "Leave" : "Sign out"}
      </button>
    </footer>
  );
}
