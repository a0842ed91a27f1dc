/** What the page says about a question and about the last action. */

import type { AnswerKind, SessionState } from "../api";
import { itemLabel } from "./layout";
import type { Waiting } from "./watching";

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

/** `subject` is whose motion is judged, "the blue car", if the world says so. */
export function questionHeading(count: number, subject = ""): string {
  const degree = count > 2 ? "best" : "better";
  return subject ? `Which motion of ${subject} is ${degree}?` : `Which is ${degree}?`;
}

/** Tells screen readers what is shown. */
export function questionText(state: Pick<SessionState, "stage" | "answered">, count: number): string {
  const question = state.stage === "practice" ? "A practice question" : `Question ${state.answered + 1}`;
  return `${question}. ${placesText(count)} ${questionHeading(count)}`;
}

/** In the order of reading, which is true of items side by side and of items below each other. */
function placesText(count: number): string {
  if (count === 2) return "A comes first, then B.";
  return `A to ${itemLabel(count - 1)} are shown in this order.`;
}

/** Why the question cannot be answered yet. */
export function waitingText(count: number, { unplayable }: Waiting): string {
  if (unplayable.length === 0) return `Watch ${count > 2 ? "all" : "both"} to the end`;
  return `${unplayable.map(itemLabel).join(" and ")} cannot be played`;
}
