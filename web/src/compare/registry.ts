/** The kinds of answers: each has a file in `kinds/`, and nothing else of the page knows them by name. */

import type { ShownQuestion } from "../api";
import type { KindView } from "./kind";

export type Kind = ShownQuestion["kind"];

const FILES = import.meta.glob<{ kind: KindView }>("./kinds/*.tsx", { eager: true });

/** What is asked, whatever the number of items: the first word of the kind's name, and the name of its file. */
export function formOf(kind: Kind): string {
  return kind.split("-")[0] ?? kind;
}

/** How many items a question of this kind has. */
export function itemsOf(kind: Kind): number {
  return Number(/\d$/.exec(kind)?.[0] ?? 2);
}

export function kindOf(kind: Kind): KindView {
  const file = FILES[`./kinds/${formOf(kind)}.tsx`];
  if (!file) throw new Error(`the page has no view of answers of the kind ${kind}: add compare/kinds/${formOf(kind)}.tsx`);
  return file.kind;
}

/** An answer in words, for people. */
export function choiceName(choice: string, kind: Kind): string {
  return kindOf(kind).choiceName(choice);
}
