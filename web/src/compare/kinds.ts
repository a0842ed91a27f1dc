/** The kinds of answers: what is asked, which answers there are, and how they are called. */

import type { Command } from "../keys";
import type { ShownQuestion } from "../api";
import { itemLabel } from "./layout";

export type Kind = ShownQuestion["kind"];
export type Form = "pair" | "strength" | "best" | "worst" | "rank";

export function formOf(kind: Kind): Form {
  const [form] = kind.split("-");
  return form as Form;
}

/** How many items a question of this kind has. */
export function itemsOf(kind: Kind): number {
  return Number(/\d$/.exec(kind)?.[0] ?? 2);
}

/** An answer that can be given; `item` is the position of the item that it names, null if it names none. */
export interface AnswerOption {
  choice: string;
  item: number | null;
  label: string;
  rest: string; // of the sentence that begins with the label
  command: Command;
}

const PAIR: readonly AnswerOption[] = [
  { choice: "left", item: 0, label: itemLabel(0), rest: "is better", command: "left" },
  { choice: "equal", item: null, label: "About equal", rest: "", command: "equal" },
  { choice: "right", item: 1, label: itemLabel(1), rest: "is better", command: "right" },
];

const STRENGTH: readonly AnswerOption[] = [
  { choice: "left-much", item: null, label: itemLabel(0), rest: "is much better", command: "left-much" },
  { choice: "left-slightly", item: 0, label: itemLabel(0), rest: "is slightly better", command: "left" },
  { choice: "equal", item: null, label: "About equal", rest: "", command: "equal" },
  { choice: "right-slightly", item: 1, label: itemLabel(1), rest: "is slightly better", command: "right" },
  { choice: "right-much", item: null, label: itemLabel(1), rest: "is much better", command: "right-much" },
];

const PLACES: readonly Command[] = ["1", "2", "3", "4", "5"];

/** The answers to a question, of those that the server takes; none to a ranking, which has its own view. */
export function answerOptions(kind: Kind, choices: readonly string[]): AnswerOption[] {
  const form = formOf(kind);
  if (form === "pair") return PAIR.filter(({ choice }) => choices.includes(choice));
  if (form === "strength") return STRENGTH.filter(({ choice }) => choices.includes(choice));
  if (form === "rank") return [];
  return choices.map((choice, item) => ({
    choice,
    item,
    label: itemLabel(item),
    rest: form === "best" ? "is the best" : "is the worst",
    command: PLACES[item] ?? "1",
  }));
}

/** The commands that answer a question. */
export function answerCommands(kind: Kind, options: readonly AnswerOption[], count: number, ties: boolean): Command[] {
  if (formOf(kind) !== "rank") return options.map(({ command }) => command);
  return [...PLACES.slice(0, count), ...(ties ? (["tie"] as const) : []), "submit"];
}

const ANSWER_COMMANDS: readonly Command[] = ["left", "right", "equal", "left-much", "right-much", ...PLACES, "tie", "submit"];

/** The commands that answer other questions. */
export function missingCommands(used: readonly Command[]): Command[] {
  return ANSWER_COMMANDS.filter((command) => !used.includes(command));
}

/** The better one of a pair that is held down for long: much better. */
export function strongChoice(kind: Kind, position: number): string | null {
  if (formOf(kind) !== "strength") return null;
  return position === 0 ? "left-much" : "right-much";
}

/** `subject` is whose motion is judged, "the blue car", if the world says so. */
export function questionHeading(kind: Kind, subject = ""): string {
  const form = formOf(kind);
  if (form === "rank") return subject ? `Rank the motions of ${subject}, the best first` : "Rank them, the best first";
  const degree = { pair: "better", strength: "better", best: "the best", worst: "the worst" }[form];
  const how = form === "strength" ? ", and by how much?" : "?";
  return subject ? `Which motion of ${subject} is ${degree}${how}` : `Which is ${degree}${how}`;
}

const PAIR_NAMES: Record<string, string> = {
  left: "A",
  right: "B",
  equal: "about equal",
  "left-much": "A, much better",
  "left-slightly": "A, slightly better",
  "right-slightly": "B, slightly better",
  "right-much": "B, much better",
};

/** An answer in words, for people. */
export function choiceName(choice: string, kind: Kind): string {
  const pair = PAIR_NAMES[choice];
  if (pair !== undefined) return pair;
  const letters = choice.replace(/\d/g, (place) => itemLabel(Number(place) - 1)).replace(/([>=])/g, " $1 ");
  const degree = { best: " is the best", worst: " is the worst" }[formOf(kind) as string];
  return letters + (degree ?? "");
}
