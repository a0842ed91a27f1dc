/** The answers to a question, as buttons. */

import type { JSX } from "preact";

import { labelsOf } from "../keys";
import { keepFocus } from "../player/controls";
import type { LastAction } from "./announcements";
import type { AnswerOption } from "./kinds";

interface AnswersProps {
  options: AnswerOption[];
  blocked: boolean;
  last: LastAction;
  onAnswer: (choice: string) => void;
}

export function Answers({ options, ...rest }: AnswersProps): JSX.Element {
  return (
    <div class={`answers answers-${options.length}`} role="group" aria-label="Your answer">
      {options.map((option) => (
        <AnswerButton key={option.choice} option={option} {...rest} />
      ))}
    </div>
  );
}

/** Not the `disabled` attribute: a button that gets it loses the keyboard's focus, at every answer. */
function AnswerButton({ option, blocked, last, onAnswer }: Omit<AnswersProps, "options"> & { option: AnswerOption }): JSX.Element {
  const { choice, label, rest, command } = option;
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
        {labelsOf(command).map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </button>
  );
}
