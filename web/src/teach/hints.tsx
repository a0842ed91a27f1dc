/** Three hints at the first use, one after the other, above the question and never over it. This browser remembers them. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { keepFocus } from "../player/controls";
import { TABS } from "./tabs";

const REMEMBERED = "prefero.hints";
const SEEN = "seen";

export const HINTS = [
  <>
    Answer with the buttons<span class="for-keyboard">, or with the keys written on them. <kbd>?</kbd> lists all keys</span>.
  </>,
  <>A slip? Undo takes back the last answer. Skip a question that you cannot answer.</>,
  <>{TABS.learned} shows the reward that your answers have taught so far, from the first ones on.</>,
];

interface HintProps {
  place: number | null; // of the hint that is shown; null: none
  next: () => void;
  close: () => void;
}

export function useHints(storage: Storage): HintProps & { show: () => void } {
  const [place, setPlace] = useState(storage.getItem(REMEMBERED) === SEEN ? null : 0);
  const close = (): void => {
    storage.setItem(REMEMBERED, SEEN);
    setPlace(null);
  };
  const next = (): void => (place === null || place + 1 >= HINTS.length ? close() : setPlace(place + 1));
  return { place, next, close, show: () => setPlace(0) };
}

export function Hint({ place, next, close }: HintProps): JSX.Element | null {
  if (place === null) return null;
  const last = place + 1 === HINTS.length;
  return (
    <section class="hints" aria-label="Hints">
      <p aria-live="polite">
        <span class="soft">
          {place + 1} of {HINTS.length}
        </span>{" "}
        {HINTS[place]}
      </p>
      <button type="button" class="link-button" onClick={next} onMouseDown={keepFocus}>
        {last ? "Got it" : "Next"}
      </button>
      {!last && (
        <button type="button" class="link-button" onClick={close} onMouseDown={keepFocus}>
          No hints
        </button>
      )}
    </section>
  );
}
