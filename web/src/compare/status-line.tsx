/** The line above the answers: what was answered last, and why this question cannot be answered yet. */

import type { JSX } from "preact";

import { keepFocus } from "../player/controls";
import { confirmationText, type LastAction, waitingText } from "./announcements";
import type { Waiting } from "./watching";

interface StatusLineProps {
  last: LastAction;
  waiting: Waiting | null; // null: the question can be answered
  count: number; // of items
  refused: number; // answers so far that came too early
  onSkipThrough: () => void;
  onSkip: () => void;
}

export function StatusLine({ last, waiting, count, refused, onSkipThrough, onSkip }: StatusLineProps): JSX.Element {
  return (
    <p class="status-line">
      <Confirmation {...last} />
      {waiting && (
        <span key={refused} class={refused > 0 ? "waiting emphasized" : "waiting"}>
          {waitingText(count, waiting)}
          {waiting.unplayable.length > 0 ? <Skip onClick={onSkip} /> : <SkipThrough onClick={onSkipThrough} />}
        </span>
      )}
    </p>
  );
}

/** Visible for a moment; screen readers have the announcement. */
function Confirmation({ action, count, kind }: LastAction): JSX.Element {
  return (
    <span class="confirmation" aria-hidden="true">
      {action && <span key={count}>{confirmationText(action, kind)}</span>}
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
