/** What the page says about a pair and an answer. */

import type { Choice, SessionState } from "../contract";

export type Action = Choice | "undo";

const CONFIRMATIONS: Record<Action, string> = {
  left: "You chose A.",
  right: "You chose B.",
  equal: "You found them about equal.",
  skip: "You skipped a pair.",
  undo: "Your last answer was taken back.",
};

export function confirmationText(action: Action | null): string {
  return action === null ? "" : CONFIRMATIONS[action];
}

export function questionText(state: Pick<SessionState, "stage" | "done">): string {
  const pair = state.stage === "practice" ? "A pair for practice" : `Pair ${state.done + 1}`;
  return `${pair}. A is on the left or above, B is on the right or below. Which is better?`;
}
