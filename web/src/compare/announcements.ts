/** What the page says about a question and about the last action. */

import type { AnswerKind, SessionState } from "../api";
import { itemLabel } from "./layout";

export type Action = AnswerKind | "undo";

/** Counted, so that the same answer twice is confirmed twice. */
export interface LastAction {
  action: Action | null;
  count: number;
}

const CONFIRMATIONS: Record<Action, string> = {
  left: "You chose A.",
  right: "You chose B.",
  equal: "You chose about equal.",
  skip: "You skipped a question.",
  undo: "Your last answer was undone.",
};

export function confirmationText(action: Action | null): string {
  return action === null ? "" : CONFIRMATIONS[action];
}

export function questionHeading(count: number): string {
  return count > 2 ? "Which is best?" : "Which is better?";
}

/** Tells screen readers what is shown. */
export function questionText(state: Pick<SessionState, "stage" | "answered">, count: number): string {
  const question = state.stage === "practice" ? "A practice question" : `Question ${state.answered + 1}`;
  return `${question}. ${placesText(count)} ${questionHeading(count)}`;
}

function placesText(count: number): string {
  if (count === 2) return "A is on the left or above, B is on the right or below.";
  return `A to ${itemLabel(count - 1)} are shown from left to right and from top to bottom.`;
}
