/** The answers to a question, as buttons. */

import type { JSX } from "preact";

import type { Choice } from "../api";
import { labelsOf } from "../keys";
import { keepFocus } from "../player/controls";
import type { LastAction } from "./announcements";
import { itemLabel } from "./layout";

/** An answer that can be given; `item` is the position of the item that it prefers, null if it prefers none. */
export interface AnswerOption {
  choice: Choice;
  item: number | null;
  label: string;
}

const PAIR: readonly AnswerOption[] = [
  { choice: "left", item: 0, label: itemLabel(0) },
  { choice: "equal", item: null, label: "About equal" },
  { choice: "right", item: 1, label: itemLabel(1) },
];

/** The answers to a question of this many items, of those that the server takes. Only pairs have answers so far. */
export function answerOptions(count: number, choices: readonly Choice[]): AnswerOption[] {
  return count === 2 ? PAIR.filter(({ choice }) => choices.includes(choice)) : [];
}

/** The answers that are not among these options. */
export function missingChoices(options: readonly AnswerOption[]): Choice[] {
  return PAIR.filter((option) => !options.includes(option)).map(({ choice }) => choice);
}

interface AnswersProps {
  options: AnswerOption[];
  blocked: boolean;
  last: LastAction;
  onAnswer: (choice: Choice) => void;
}

export function Answers({ options, ...rest }: AnswersProps): JSX.Element {
  return (
    <div class="answers" role="group" aria-label="Your answer">
      {options.map((option) => (
        <AnswerButton key={option.choice} option={option} {...rest} />
      ))}
    </div>
  );
}

/** Not the `disabled` attribute: a button that gets it loses the keyboard's focus, at every answer. */
function AnswerButton({ option, blocked, last, onAnswer }: Omit<AnswersProps, "options"> & { option: AnswerOption }): JSX.Element {
  const { choice, item, label } = option;
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
        <strong>{label}</strong> {item !== null && "is better"}
      </span>
      <span class="hint" aria-hidden="true">
        {labelsOf(choice).map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </button>
  );
}
