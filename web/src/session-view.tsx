/** Loads a session's state and how trajectories are shown, and then shows its children. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import type { SessionState } from "./api";
import { LoadingOrError, ProblemBanner } from "./components";
import { useLoad } from "./hooks";
import type { PendingRequests } from "./pending";
import type { ClipSource } from "./player/clips";
import type { Server } from "./server";
import { Session } from "./session";
import { Trajectories } from "./trajectories";

/** What the views of a session get. */
export interface SessionProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
}

interface SessionViewProps {
  server: Server;
  pending: PendingRequests;
  clipSource?: ClipSource; // by default the server's own
  onClose?: (() => void) | undefined; // the person looks at it no longer
  children: (props: SessionProps) => JSX.Element;
}

export function SessionView({ server, pending, clipSource, onClose, children }: SessionViewProps): JSX.Element {
  const session = useMemo(() => new Session(server, pending), []);
  const trajectories = useLoad(() => Trajectories.open(server, clipSource), "scene");
  useEffect(() => {
    void session.open();
    return () => {
      session.close();
      onClose?.();
    };
  }, [session]);
  const state = session.state.value;
  if (!state && session.problem.value) return <ProblemBanner problem={session.problem.value} />;
  if (!state || !trajectories.value) return <LoadingOrError problem={trajectories.problem} retry={trajectories.retry} message="Loading…" />;
  return children({ session, state, trajectories: trajectories.value });
}
