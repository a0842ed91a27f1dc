/** The view of a participant: one stage after another, and nothing of what is learned. */

import type { JSX } from "preact";

import { Progress } from "../compare/progress";
import { Notice, ProblemBanner } from "../components";
import { useFocusOnChange, useTitle } from "../hooks";
import type { SessionProps } from "../session-view";
import { ArenaProgress, ArenaResult } from "./arena";
import { CurrentStage, STAGES } from "./stages";

export function Study({ session, state, trajectories }: SessionProps): JSX.Element {
  const { arena, stage } = state;
  const { pastGoal } = session;
  const result = pastGoal.value ? null : arena?.result;
  useTitle(result ? "Result" : STAGES[stage].title, state.title);
  const main = useFocusOnChange(result ? "result" : stage);
  return (
    <>
      <header class="header">
        <span class="brand">{state.title}</span>
        {stage === "compare" && !arena && <Progress state={state} />}
        {stage === "compare" && arena && !result && <ArenaProgress arena={arena} onResult={() => void (pastGoal.value = false)} />}
      </header>
      <main ref={main} tabIndex={-1}>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        {result ? (
          <ArenaResult result={result} onContinue={() => void (pastGoal.value = true)} />
        ) : (
          <CurrentStage session={session} state={state} trajectories={trajectories} />
        )}
      </main>
    </>
  );
}
