/** The kinds of answers: each has a file in `kinds/`, and nothing else of the page knows them by name. */

import type { ShownQuestion } from "../api";
import { anyChoice } from "./buttons";
import type { KindView } from "./kind";

export type Kind = ShownQuestion["kind"];

const FILES = import.meta.glob<{ kind: KindView }>("./kinds/*.tsx", { eager: true });

/** What is asked, whatever the number of items: the first word of the kind's name, and the name of its file. */
export function formOf(kind: Kind): string {
  return kind.split("-")[0] ?? kind;
}

/** How a kind is asked and answered; one of another package, for which there is no file, by its choices alone. */
export function kindOf(kind: Kind): KindView {
  return FILES[`./kinds/${formOf(kind)}.tsx`]?.kind ?? anyChoice;
}

/** An answer in words, for people. */
export function choiceName(choice: string, kind: Kind, words: readonly string[]): string {
  return kindOf(kind).choiceName(choice, words);
}

/** What a question of this kind asks, in a sentence about whatever is shown. */
export function askedText(kind: Kind): string {
  return kindOf(kind).heading("");
}
