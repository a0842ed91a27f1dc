/** What a participant sees: one stage after another, and nothing of what is learned. */

import type { JSX } from "preact";

import { Progress } from "../compare/progress";
import type { SessionState, Stage } from "../contract";
import type { Session } from "../session";
import { useFocusOnChange, useTitle } from "../hooks";
import { Notice, ProblemBanner } from "../components";
import type { Trajectories } from "../trajectories";
import { CurrentStage } from "./stage";

const TITLES: Record<Stage, string> = {
  consent: "Before you begin",
  instructions: "Instructions",
  scores: "Your scores",
  practice: "Practice",
  compare: "Compare",
  rate: "Rate",
  done: "Thank you",
};

export function Study({ session, state, trajectories }: { session: Session; state: SessionState; trajectories: Trajectories }): JSX.Element {
  useTitle(TITLES[state.stage], state.title);
  const main = useFocusOnChange(state.stage);
  return (
    <>
      <header class="top">
        <span class="brand">{state.title}</span>
        {state.stage === "compare" && <Progress done={state.done} of={state.of} />}
      </header>
      <main ref={main} tabIndex={-1}>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        {answering(state.stage) && <h1 class="question">Which is better?</h1>}
        <CurrentStage session={session} state={state} trajectories={trajectories} />
      </main>
    </>
  );
}

function answering(stage: Stage): boolean {
  return stage === "compare" || stage === "practice";
}
