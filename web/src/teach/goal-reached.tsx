/** As many answers are predicted as the teacher wanted: nothing more is asked, unless they go on. */

import type { JSX } from "preact";

import type { LearningSummary, SessionState } from "../api";
import { Card, LoadingOrError } from "../components";
import { formatPercent } from "../format";
import { useLoad } from "../hooks";
import type { Server } from "../server";

interface GoalReachedProps {
  state: ReachedState;
  server: Server;
  onFinish: () => void;
  onContinue: () => void;
}

/** A state with a goal that is reached. */
type ReachedState = SessionState & { goal: number; accuracy: number };

export function isGoalReached(state: SessionState): state is ReachedState {
  return state.accuracy !== null && state.goal !== null && state.accuracy >= state.goal;
}

export function GoalReached({ state, server, onFinish, onContinue }: GoalReachedProps): JSX.Element {
  const { goal, accuracy, answered } = state;
  const { value, problem, retry } = useLoad(() => server.get("/api/learning-summary"), answered);
  return (
    <Card title="Your goal is reached">
      <p role="status">
        It is expected to predict {formatPercent(accuracy)} of your answers, and you wanted {formatPercent(goal)}. So it stopped asking
        after {answered} answers.
      </p>
      {value ? <Outlook summary={value} /> : <LoadingOrError problem={problem} retry={retry} message="Computing how sure that is…" />}
      <FinishOrContinue onFinish={onFinish} onContinue={onContinue} />
    </Card>
  );
}

function Outlook({ summary: { accuracy, hint } }: { summary: LearningSummary }): JSX.Element {
  return (
    <p>
      {accuracy && `The true share is probably between ${formatPercent(accuracy.low)} and ${formatPercent(accuracy.high)}. `}
      {hint}
    </p>
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
        Continue comparing
      </button>
    </div>
  );
}
