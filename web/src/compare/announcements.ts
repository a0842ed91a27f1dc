/** What the page says about a question and about the last action. */

import type { AnswerKind, SessionState } from "../api";
import { itemLabel } from "./layout";
import { askedText, choiceName, type Kind } from "./registry";
import type { Waiting } from "./watching";

export type Action = AnswerKind; // or "undo"

/** Counted, so that the same answer twice is confirmed twice. */
export interface LastAction {
  action: Action | null;
  count: number;
  kind: Kind; // of the question that was answered,
  words: readonly string[]; // and those for its levels
}

/** Why the last press did nothing. Counted, so that the same reason twice is shown twice. */
export interface Refusal {
  text: string;
  count: number;
}

export function confirmationText({ action, kind, words }: Omit<LastAction, "count">): string {
  if (action === null) return "";
  if (action === "skip") return "You skipped a question.";
  return action === "undo" ? "Your last answer was undone." : `You chose ${choiceName(action, kind, words)}.`;
}

/** Tells screen readers what is shown; `changed`: the question before was of another kind. */
export function questionText(state: Pick<SessionState, "stage" | "answered">, kind: Kind, count: number, changed = false): string {
  const question = state.stage === "practice" ? "A practice question." : `Question ${state.answered + 1}.`;
  return [question, placesText(count), changed ? changeText(kind) : askedText(kind)].filter(Boolean).join(" ");
}

/** "Now: how good is this one?" */
export function changeText(kind: Kind): string {
  const asked = askedText(kind);
  return `Now: ${asked.slice(0, 1).toLowerCase()}${asked.slice(1)}`;
}

/** In the order of reading, which is true of items side by side and of items below each other. */
function placesText(count: number): string {
  if (count === 1) return "";
  if (count === 2) return "A comes first, then B.";
  return `A to ${itemLabel(count - 1)} are shown in this order.`;
}

/** What a person does before the question can be answered; nothing while it loads, which takes a moment only. */
export function waitingText(count: number, waiting: Waiting): string {
  if (waiting.reason === "loading") return "";
  if (waiting.reason === "unseen") return `Watch ${["it", "both"][count - 1] ?? "all"} to the end`;
  return `${count === 1 ? "It" : waiting.items.map(itemLabel).join(" and ")} cannot be played`;
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
