/** What the page says about a question and about the last action. */

import type { AnswerKind, SessionState } from "../api";
import { choiceName, type Kind, questionHeading } from "./kinds";
import { itemLabel } from "./layout";
import type { Waiting } from "./watching";

export type Action = AnswerKind; // or "undo"

/** Counted, so that the same answer twice is confirmed twice. */
export interface LastAction {
  action: Action | null;
  count: number;
  kind?: Kind; // of the question that was answered
}

/** `kind` is that of the question that was answered. */
export function confirmationText(action: Action | null, kind: Kind = "pair"): string {
  if (action === null) return "";
  if (action === "skip") return "You skipped a question.";
  return action === "undo" ? "Your last answer was undone." : `You chose ${choiceName(action, kind)}.`;
}

/** Tells screen readers what is shown. */
export function questionText(state: Pick<SessionState, "stage" | "answered">, kind: Kind, count: number): string {
  const question = state.stage === "practice" ? "A practice question" : `Question ${state.answered + 1}`;
  return `${question}. ${placesText(count)} ${questionHeading(kind)}`;
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
