/** What the page says about a question and about the last action. */

import type { AnswerKind, SessionState } from "../api";
import { itemLabel } from "./layout";
import { choiceName, type Kind, kindOf } from "./registry";
import type { Waiting } from "./watching";

export type Action = AnswerKind; // or "undo"

/** Counted, so that the same answer twice is confirmed twice. */
export interface LastAction {
  action: Action | null;
  count: number;
  kind: Kind; // of the question that was answered
}

/** Why the last press did nothing. Counted, so that the same reason twice is shown twice. */
export interface Refusal {
  text: string;
  count: number;
}

export function confirmationText({ action, kind }: Omit<LastAction, "count">): string {
  if (action === null) return "";
  if (action === "skip") return "You skipped a question.";
  return action === "undo" ? "Your last answer was undone." : `You chose ${choiceName(action, kind)}.`;
}

/** Tells screen readers what is shown. */
export function questionText(state: Pick<SessionState, "stage" | "answered">, kind: Kind, count: number): string {
  const question = state.stage === "practice" ? "A practice question" : `Question ${state.answered + 1}`;
  return `${question}. ${placesText(count)} ${kindOf(kind).heading("")}`;
}

/** In the order of reading, which is true of items side by side and of items below each other. */
function placesText(count: number): string {
  if (count === 2) return "A comes first, then B.";
  return `A to ${itemLabel(count - 1)} are shown in this order.`;
}

/** What a person does before the question can be answered; nothing while it loads, which takes a moment only. */
export function waitingText(count: number, waiting: Waiting): string {
  if (waiting.reason === "loading") return "";
  if (waiting.reason === "unseen") return `Watch ${count > 2 ? "all" : "both"} to the end`;
  return `${waiting.items.map(itemLabel).join(" and ")} cannot be played`;
}

/** That an answer was not taken; what it waits for is on the same line. */
export function tooEarlyText({ reason }: Waiting): string {
  return { loading: LOADING, unseen: "Too early: not taken.", unplayable: "Not taken." }[reason];
}

export const LOADING = "Not taken: the question was still loading.";
export const SENDING = "Not taken: your last answer was still being sent.";
export const TWICE = "A double click counts once.";
export const NO_SKIP = "This question cannot be skipped.";
export const NO_UNDO = "There is nothing to undo.";
