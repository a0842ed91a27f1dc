/** The line above the answers: what was answered last, or why it was not taken, and what this question waits for. */

import type { ComponentChildren, JSX } from "preact";

import { keepFocus } from "../player/controls";
import { confirmationText, type LastAction, type Refusal, waitingText } from "./announcements";
import type { Waiting } from "./watching";

interface StatusLineProps {
  last: LastAction;
  change: string; // what is asked now, if the question before asked something else
  waiting: Waiting | null; // null: the question can be answered
  count: number; // of items
  refusal: Refusal | null;
  onSkipThrough: () => void;
  onSkip: () => void;
  children: ComponentChildren; // the likely reasons of the last answer, if there are any
}

export function StatusLine(props: StatusLineProps): JSX.Element {
  const { last, change, waiting, count, refusal, onSkipThrough, onSkip, children } = props;
  const wanted = waiting ? waitingText(count, waiting) : "";
  return (
    <div class="before-answers">
      <p class="status-line">
        {refusal ? <Refused {...refusal} /> : <Confirmation {...last} />}
        {change && <strong class="kind-change">{change}</strong>}
        {wanted && (
          <span class="waiting">
            {wanted}
            {waiting?.reason === "unplayable" ? <Skip onClick={onSkip} /> : <SkipThrough onClick={onSkipThrough} />}
          </span>
        )}
      </p>
      {children}
    </div>
  );
}

function Refused({ text, count }: Refusal): JSX.Element {
  return (
    <span key={count} class="refusal" role="alert">
      {text}
    </span>
  );
}

/** Visible for a moment; screen readers have the announcement. */
function Confirmation({ count, ...last }: LastAction): JSX.Element {
  return (
    <span class="confirmation" aria-hidden="true">
      {last.action && <span key={count}>{confirmationText(last)}</span>}
    </span>
  );
}

function SkipThrough({ onClick }: { onClick: () => void }): JSX.Element {
  return (
    <>
      , or <InlineButton label="skip ahead" keyName="L" onClick={onClick} />
    </>
  );
}

function Skip({ onClick }: { onClick: () => void }): JSX.Element {
  return (
    <>
      : <InlineButton label="skip this question" keyName="S" onClick={onClick} />
    </>
  );
}

function InlineButton({ label, keyName, onClick }: { label: string; keyName: string; onClick: () => void }): JSX.Element {
  return (
    <>
      <button type="button" class="inline-button" onClick={onClick} onMouseDown={keepFocus}>
        {label}
      </button>{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </>
  );
}
