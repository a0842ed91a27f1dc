/** How well does one trajectory do what the person wants? */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Player } from "../asking/player";
import type { Rating } from "../contract";
import type { Theatre } from "../theatre";

interface RateProps {
  rating: Rating;
  theatre: Theatre;
  blocked: boolean;
  onRate: (rating: number) => void;
}

export function Rate({ rating, theatre, blocked, onRate }: RateProps): JSX.Element {
  const [picked, setPicked] = useState<number | null>(null);
  useEffect(() => setPicked(null), [rating.number, rating.trajectory]);
  const submit = (event?: Event): void => {
    event?.preventDefault();
    if (picked !== null && !blocked) onRate(picked);
  };
  useMarkKeys(rating, setPicked, submit);
  return (
    <form class="rate" onSubmit={submit}>
      <p class="soft">
        {rating.number} of {rating.of}
      </p>
      <Player theatre={theatre} index={rating.trajectory} name="The robot's motion" />
      <fieldset class="scale">
        <legend>
          <h1>How well does this do what you want?</h1>
        </legend>
        <div class="picks">
          {marksOf(rating).map((mark) => (
            <label key={mark} class="pick">
              <input
                type="radio"
                name="rating"
                value={mark}
                checked={picked === mark}
                onChange={() => setPicked(mark)}
              />
              <span>{mark}</span>
            </label>
          ))}
        </div>
        <p class="scale-ends soft" aria-hidden="true">
          <span>not at all</span>
          <span>perfectly</span>
        </p>
      </fieldset>
      <button class="button primary" disabled={picked === null || blocked}>
        Confirm
      </button>
    </form>
  );
}

function marksOf({ lowest, highest }: Rating): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** The digit of a key stroke, if it is a mark of this scale. */
export function markOfKey(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey">, rating: Rating): number | null {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^\d$/.test(event.key)) return null;
  const mark = Number(event.key);
  return mark >= rating.lowest && mark <= rating.highest ? mark : null;
}

/** Digits pick, and Enter confirms from anywhere; in the form itself the browser does that already. */
function useMarkKeys(rating: Rating, pick: (mark: number) => void, confirm: () => void): void {
  const latest = useRef({ rating, confirm });
  latest.current = { rating, confirm };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const mark = markOfKey(event, latest.current.rating);
      if (mark !== null) pick(mark);
      if (event.key === "Enter" && !event.repeat && !presses(event.target)) latest.current.confirm();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function presses(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("button, a, input");
}
