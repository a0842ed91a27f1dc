/** What the page knows about a kind of answers. A file of `kinds/`, named after what is asked, describes each one. */

import type { JSX } from "preact";

import type { Key } from "../keys";
import type { LastAction } from "./announcements";

/** What can be answered: `choices` are those that the server lists, none where there are too many to list. */
export interface Asked {
  count: number; // of items
  choices: readonly string[];
  ties: boolean;
}

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
  choiceName: (choice: string) => string; // an answer in words, for people
  touch: string; // how to answer without a keyboard
  keys: (asked: Asked) => readonly Key[];
  Input: (props: InputProps) => JSX.Element; // listens to the keys, and gives its elements to `children`
}

/** "Which motion of the blue car is better?" */
export function whichIs(subject: string, degree: string): string {
  return subject ? `Which motion of ${subject} is ${degree}` : `Which is ${degree}`;
}
