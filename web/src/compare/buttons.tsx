/** Kinds of answers with a button for each choice. */

import type { JSX } from "preact";

import { useKeys } from "../hooks";
import type { Key } from "../keys";
import { keepFocus } from "../player/controls";
import type { LastAction } from "./announcements";
import { type Asked, type InputProps, type KindView, NONE } from "./kind";
import { itemLabel } from "./layout";

/** A choice with its button: `label` and `rest` are a sentence. A click on the item `clicked` chooses it, or holding `held`. */
export interface Option {
  choice: string;
  label: string;
  rest: string;
  clicked?: number;
  held?: number;
}

const MANY = 5; // buttons, which need more room than two clips have
const NONE_KEY = { command: NONE, keys: ["0", "n"], labels: ["0", "N"] };

interface ButtonKind extends Omit<KindView, "keys" | "Input"> {
  options: (asked: Asked) => readonly Option[];
  keys: (asked: Asked) => readonly Key[]; // their commands are choices
  look?: "answers-levels"; // a class of its own for the row of buttons
}

/** "Neither is acceptable": the button and the key of an answer that some questions have. */
export function noneOption({ count }: Pick<Asked, "count">): Option {
  return { choice: NONE, label: count === 2 ? "Neither" : "None", rest: "is acceptable" };
}

export function noneKey({ count }: Pick<Asked, "count">): Key {
  return { ...NONE_KEY, description: `${count === 2 ? "Neither" : "None"} is acceptable` };
}

/** A kind with these buttons and keys, of which those are shown that the server takes. */
export function withButtons({ options, keys, look, ...words }: ButtonKind): KindView {
  const taken = (asked: Asked): readonly Key[] => keys(asked).filter(({ command }) => asked.choices.includes(command));
  function Input({ answer, blocked, last, children, ...asked }: InputProps): JSX.Element {
    const offered = options(asked).filter(({ choice }) => asked.choices.includes(choice));
    const choose = (option: Option | undefined): void => {
      if (option) answer(option.choice);
    };
    const press = (position: number): void => choose(offered.find(({ clicked }) => clicked === position));
    const hold = (position: number): void => choose(offered.find(({ held }) => held === position));
    useKeys(Object.fromEntries(offered.map(({ choice }) => [choice, () => answer(choice)])), taken(asked));
    return children({
      view: <Answers options={offered} keys={taken(asked)} look={look} blocked={blocked} last={last} onAnswer={answer} />,
      onClick: press,
      ...(offered.some(({ held }) => held !== undefined) && { onLongPress: hold }),
    });
  }
  return { ...words, keys: taken, Input };
}

/** A kind whose answer is the place of one item, from 1: "the best", "the worst". */
export function oneItem(degree: string, words: Omit<ButtonKind, "options" | "keys" | "choiceName">): KindView {
  return withButtons({
    ...words,
    choiceName: (choice) => (choice === NONE ? "none of them" : `${itemLabel(Number(choice) - 1)} is ${degree}`),
    keys: (asked) => [...numberKeys(asked.count), noneKey(asked)],
    options: (asked) => [
      ...Array.from({ length: asked.count }, (_, i) => ({ choice: String(i + 1), label: itemLabel(i), rest: `is ${degree}`, clicked: i })),
      noneOption(asked),
    ],
  });
}

/** Of whatever kind: the choices as they are stored. */
export const anyChoice = withButtons({
  heading: (subject) => `What do you say about ${subject ? `the motions of ${subject}` : "them"}?`,
  choiceName: (choice) => choice,
  touch: "Tap your answer.",
  keys: ({ choices }) => choices.slice(0, 9).map((choice, i) => placeKey(i, choice, `Choose ${choice}`)),
  options: ({ choices }) => choices.map((choice) => ({ choice, label: choice, rest: "" })),
});

/** A key for each item: its place, from 1. */
export function numberKeys(count: number): Key[] {
  return Array.from({ length: count }, (_, i) => placeKey(i, String(i + 1), `Choose ${itemLabel(i)}`));
}

/** The digit of a place, from 1, as the key of a command. */
export function placeKey(i: number, command: string, description: string): Key {
  const digit = String(i + 1);
  return { command, keys: [digit], labels: [digit], description };
}

interface AnswersProps {
  options: readonly Option[];
  look: string | undefined;
  keys: readonly Key[];
  blocked: boolean;
  last: LastAction;
  onAnswer: (choice: string) => void;
}

function Answers({ options, look, ...rest }: AnswersProps): JSX.Element {
  const classes = ["answers", options.length < MANY ? "" : "answers-many", look ?? ""];
  return (
    <div class={classes.filter(Boolean).join(" ")} role="group" aria-label="Your answer">
      {options.map((option) => (
        <AnswerButton key={option.choice} option={option} {...rest} />
      ))}
    </div>
  );
}

/** Not the `disabled` attribute: a button that gets it loses the keyboard's focus, at every answer. */
function AnswerButton({ option, keys, blocked, last, onAnswer }: Omit<AnswersProps, "options" | "look"> & { option: Option }): JSX.Element {
  const { choice, label, rest } = option;
  const flash = last.action === choice ? `chosen-${last.count % 2 === 0 ? "even" : "odd"}` : "";
  return (
    <button
      type="button"
      class={`answer answer-${choice} ${flash}`}
      aria-disabled={blocked}
      onClick={() => onAnswer(choice)}
      onMouseDown={keepFocus}
    >
      <span>
        <strong>{label}</strong> {rest}
      </span>
      <span class="hint" aria-hidden="true">
        {keys
          .find(({ command }) => command === choice)
          ?.labels.map((key) => <kbd key={key}>{key}</kbd>)}
      </span>
    </button>
  );
}
