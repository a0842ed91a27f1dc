/** The page: the view of the person who is signed in. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import type { Me } from "./api";
import { Auth } from "./auth";
import { Banner, Loading } from "./components";
import { ExperimenterView } from "./experimenter/experimenter";
import { PendingRequests } from "./pending";
import { SessionView } from "./session-view";
import { SignInPage } from "./sign-in";
import { Study } from "./study/study";
import { openView } from "./teach/tabs";
import { Teach } from "./teach/teach";

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
  const { server } = auth;
  return (
    <SessionView key={`${role} ${name}`} server={server} pending={new PendingRequests(storage, name)}>
      {(props) => (role === "participant" ? <Study {...props} /> : <Teach {...props} server={server} storage={storage} />)}
    </SessionView>
  );
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
