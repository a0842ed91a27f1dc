/** The view of a participant: one stage after another, and nothing of what is learned. */

import type { JSX } from "preact";

import { Progress } from "../compare/progress";
import { Notice, ProblemBanner } from "../components";
import { useFocusOnChange, useTitle } from "../hooks";
import type { SessionParts } from "../session-view";
import { ArenaProgress } from "./arena";
import { CurrentStage, STAGES } from "./stages";

export function Study({ session, state, trajectories }: SessionParts): JSX.Element {
  useTitle(STAGES[state.stage].title, state.title);
  const main = useFocusOnChange(state.stage);
  return (
    <>
      <header class="header">
        <span class="brand">{state.title}</span>
        {state.stage === "compare" && (state.arena ? <ArenaProgress arena={state.arena} /> : <Progress state={state} />)}
      </header>
      <main ref={main} tabIndex={-1}>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        <CurrentStage session={session} state={state} trajectories={trajectories} />
      </main>
    </>
  );
}
