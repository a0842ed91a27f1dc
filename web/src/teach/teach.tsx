/** What a teacher sees: compare, look at what was learned, finish. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Progress } from "../compare/progress";
import type { SessionState } from "../contract";
import type { Session } from "../session";
import { useTitle } from "../hooks";
import { Notice, ProblemBanner } from "../components";
import type { Server } from "../server";
import { CurrentStage } from "../study/stage";
import type { Trajectories } from "../trajectories";
import { FinishView } from "./finish";
import { LearnedView } from "./learned";
import { type View, VIEWS, useView } from "./views";

interface TeachProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
  server: Server;
}

export function Teach({ session, state, trajectories, server }: TeachProps): JSX.Element {
  const [view, go] = useView();
  useTitle(VIEWS[view], state.title);
  return (
    <>
      <header class="top">
        <span class="brand">{state.title}</span>
        <Tabs view={view} go={go} />
        <Progress done={state.done} of={state.of} />
      </header>
      <main>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        {view === "compare" && <CompareView session={session} state={state} trajectories={trajectories} go={go} />}
        {view === "learned" && <LearnedView session={session} state={state} trajectories={trajectories} server={server} go={go} />}
        {view === "finish" && <FinishView state={state} trajectories={trajectories} server={server} go={go} />}
      </main>
    </>
  );
}

function Tabs({ view, go }: { view: View; go: (view: View) => void }): JSX.Element {
  return (
    <nav class="tabs" aria-label="Steps">
      {(Object.keys(VIEWS) as View[]).map((name) => (
        <button
          key={name}
          type="button"
          class="tab"
          aria-current={name === view ? "page" : undefined}
          onClick={() => go(name)}
        >
          {VIEWS[name]}
        </button>
      ))}
    </nav>
  );
}

interface CompareViewProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
  go: (view: View) => void;
}

function CompareView({ session, state, trajectories, go }: CompareViewProps): JSX.Element {
  const [further, setFurther] = useState(false);
  const reached = state.of !== null && state.done >= state.of;
  return (
    <>
      {reached && !further && <Enough of={state.of ?? 0} onFinish={() => go("finish")} onGoOn={() => setFurther(true)} />}
      <h1 class="question">Which is better?</h1>
      <CurrentStage session={session} state={state} trajectories={trajectories} />
    </>
  );
}

/** The number that was asked for is reached; more answers are welcome. */
function Enough({ of, onFinish, onGoOn }: { of: number; onFinish: () => void; onGoOn: () => void }): JSX.Element {
  return (
    <div class="enough" role="status">
      <p>You have given the {of} answers that were asked for. You can finish now, or go on: every answer teaches a little more.</p>
      <div class="row">
        <button type="button" class="button primary" onClick={onFinish}>
          Finish
        </button>
        <button type="button" class="button" onClick={onGoOn}>
          Go on comparing
        </button>
      </div>
    </div>
  );
}
