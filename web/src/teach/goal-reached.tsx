/** There are enough answers: as many are predicted as the teacher wanted, or as many were given as were planned. */

import type { ComponentChildren, JSX } from "preact";

import type { SessionState } from "../api";
import { Card, LoadingOrError } from "../components";
import { formatPercent } from "../format";
import { useLoad } from "../hooks";
import type { Server } from "../server";

/** A state with a goal that is reached. */
type ReachedState = SessionState & { goal: number; accuracy: number };

export function isGoalReached(state: SessionState): state is ReachedState {
  return state.accuracy !== null && state.goal !== null && state.accuracy >= state.goal;
}

/** Says why nothing more is asked; `children` are the ways on. */
export function GoalReached({ state, children }: { state: ReachedState; children: ComponentChildren }): JSX.Element {
  const { goal, accuracy, answered } = state;
  return (
    <Card title="Your goal is reached">
      <p role="status">
        It is expected to predict {formatPercent(accuracy)} of your answers, and you wanted {formatPercent(goal)}. So it stopped asking
        after {answered} answers.
      </p>
      {children}
    </Card>
  );
}

/** How sure the accuracy is, and what more answers would add. */
export function Outlook({ server, answered }: { server: Server; answered: number }): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/learning-summary"), answered);
  if (!value) return <LoadingOrError problem={problem} retry={retry} message="Computing how sure that is…" />;
  const { accuracy, hint } = value;
  return (
    <p>
      {accuracy && `The true fraction is probably between ${formatPercent(accuracy.low)} and ${formatPercent(accuracy.high)}. `}
      {hint}
    </p>
  );
}

/** The planned number of answers is reached; more are welcome. */
export function TargetReached({ of, children }: { of: number; children: ComponentChildren }): JSX.Element {
  return (
    <div class="target-reached" role="status">
      <p>You have given all {of} planned answers. You can finish now, or continue: every further answer improves the reward.</p>
      {children}
    </div>
  );
}

interface FinishOrContinueProps {
  onFinish: () => void;
  onContinue: () => void;
}

/** The two ways on when there are enough answers. */
export function FinishOrContinue({ onFinish, onContinue }: FinishOrContinueProps): JSX.Element {
  return (
    <div class="row">
      <button type="button" class="button primary" onClick={onFinish}>
        Finish
      </button>
      <button type="button" class="button" onClick={onContinue}>
        Continue answering
      </button>
    </div>
  );
}
