/** What the page knows about a kind of answers. A file of `kinds/`, named after what is asked, describes each one. */

import type { JSX } from "preact";

import type { Key } from "../keys";
import type { LastAction } from "./announcements";

/**
 * What can be answered: `choices` are those that the server lists. There are too many orders of a ranking to list, and
 * only "none" is listed there, if that is an answer.
 */
export interface Asked {
  count: number; // of items
  choices: readonly string[];
  ties: boolean;
  words: readonly string[]; // for the levels of a label, the lowest first
}

export const NONE = "none"; // none of the items is acceptable

export interface InputProps extends Asked {
  question: number; // its id
  blocked: boolean;
  last: LastAction;
  answer: (choice: string) => void;
  refuse: (reason: string) => void;
  whileOpen: (act: () => void) => void; // act, unless the question cannot be answered at all
  children: (input: Input) => JSX.Element;
}

/** How a question is answered: the view below the items, and what a click on an item does. */
export interface Input {
  view: JSX.Element;
  onClick: (position: number) => void;
  onLongPress?: (position: number) => void; // held for half a second
  places?: readonly (number | null)[]; // of the items, as they are drawn beside their labels
}

export interface KindView {
  heading: (subject: string) => string; // `subject` is whose motion is judged, "the blue car", or ""
  choiceName: (choice: string, words: readonly string[]) => string; // an answer in words, for people
  touch: string; // how to answer without a keyboard
  keys: (asked: Asked) => readonly Key[];
  Input: (props: InputProps) => JSX.Element; // listens to the keys, and gives its elements to `children`
}

/** What a person calls one item: "this motion of the blue car", or "this one". */
export function thisOne(subject: string): string {
  return subject ? `this motion of ${subject}` : "this one";
}

/** "Which motion of the blue car is better?" */
export function whichIs(subject: string, degree: string): string {
  return subject ? `Which motion of ${subject} is ${degree}` : `Which is ${degree}`;
}
