/** How many questions are answered, and which fraction of the answers is expected to be predicted. */

import type { JSX } from "preact";

import type { SessionState } from "../api";
import { Meter } from "../components";
import { formatPercent, pluralize } from "../format";

export function progressText(answered: number, total: number): string {
  return answered > total ? `${pluralize(answered, "answer")} (${total} planned)` : `${answered} of ${total}`;
}

/** Nothing without a goal while it is too early to say, and nothing for participants of a study. */
export function predictedText(accuracy: number | null, goal: number | null): string {
  const known = [accuracy === null ? "" : `predicts ${formatPercent(accuracy)}`, goal === null ? "" : `goal ${formatPercent(goal)}`];
  return known.filter(Boolean).join(", ");
}

export function Progress({ state }: { state: SessionState }): JSX.Element {
  const { answered, total, accuracy, goal } = state;
  const predicted = predictedText(accuracy, goal);
  return (
    <div class="progress">
      <span class="progress-text">{progressText(answered, total)}</span>
      <Meter fraction={total > 0 ? answered / total : 1} label="Answers given" />
      {predicted && <span class="predicted soft">{predicted}</span>}
    </div>
  );
}
