/** The page: who is there, and the view that belongs to them. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { Session } from "./session";
import { Auth } from "./auth";
import { storedOwner } from "./auth";
import { SignInPage } from "./sign-in";
import { useLoad } from "./hooks";
import { PendingRequests } from "./pending";
import { Banner, LoadingOrError, ProblemBanner, Loading } from "./components";
import type { Server } from "./server";
import { Study } from "./study/study";
import { Teach } from "./teach/teach";
import { Trajectories } from "./trajectories";
import { ExperimenterView } from "./experimenter/experimenter";

export function App({ storage }: { storage: Storage }): JSX.Element {
  const auth = useMemo(() => new Auth(storage), [storage]);
  useEffect(() => {
    const start = (): void => void auth.start();
    start();
    window.addEventListener("hashchange", start); // a link pasted over the page's own address
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
      {me?.role && <Footer version={me.version} onLeave={() => void auth.signOut()} />}
    </div>
  );
}

function RoleView({ auth, storage }: { auth: Auth; storage: Storage }): JSX.Element {
  const role = auth.me.value?.role ?? null;
  const onSecret = (secret: string): void => void auth.signIn(secret);
  if (role === null) return <SignInPage message={auth.message.value} busy={auth.busy.value} onSecret={onSecret} />;
  if (role === "experimenter") return <ExperimenterView server={auth.server} />;
  const owner = storedOwner(storage);
  return <SessionView key={`${role} ${owner}`} role={role} server={auth.server} pending={new PendingRequests(storage, owner)} />;
}

interface SessionViewProps {
  role: "teacher" | "participant";
  server: Server;
  pending: PendingRequests;
}

/** A sitting needs to know where it stands and what trajectories look like. */
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

function Footer({ version, onLeave }: { version: string; onLeave: () => void }): JSX.Element {
  return (
    <footer class="foot">
      <span>Prefero {version}</span>
      <button type="button" class="quiet" onClick={onLeave}>
        Leave
      </button>
    </footer>
  );
}
