/** Rating one trajectory on a scale. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Rating } from "../api";
import { Player } from "../player/player";
import type { Trajectories } from "../trajectories";

interface RateProps {
  rating: Rating;
  trajectories: Trajectories;
  blocked: boolean;
  onRate: (rating: number) => void;
}

export function Rate({ rating, trajectories, blocked, onRate }: RateProps): JSX.Element {
  const [selection, setSelection] = useState<{ number: number; value: number } | null>(null);
  const selected = selection?.number === rating.number ? selection.value : null; // nothing of the last trajectory
  const select = (value: number): void => setSelection({ number: rating.number, value });
  const submit = (event?: Event): void => {
    event?.preventDefault();
    if (selected !== null && !blocked) onRate(selected);
  };
  useRatingKeys(rating, select, submit);
  return (
    <form class="rate" onSubmit={submit}>
      <p class="soft">
        {rating.number} of {rating.total}
      </p>
      <Player trajectories={trajectories} index={rating.trajectory} name="The one to rate" />
      <fieldset class="scale">
        <legend>
          <h1>How well does this {trajectories.display.kind === "features" ? "one" : "motion"} do what you want?</h1>
        </legend>
        <div class="choices">
          {scaleOf(rating).map((value) => (
            <label key={value} class="choice">
              <input
                type="radio"
                name="rating"
                value={value}
                checked={selected === value}
                onChange={() => select(value)}
              />
              <span>{value}</span>
            </label>
          ))}
        </div>
        <p class="scale-ends soft" aria-hidden="true">
          <span>not at all</span>
          <span>perfectly</span>
        </p>
      </fieldset>
      <button class="button primary" disabled={selected === null || blocked}>
        Confirm
      </button>
    </form>
  );
}

function scaleOf({ lowest, highest }: Rating): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** The digit of a key press, if it is on this scale. */
export function ratingOfKey(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey">, rating: Rating): number | null {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^\d$/.test(event.key)) return null;
  const value = Number(event.key);
  return value >= rating.lowest && value <= rating.highest ? value : null;
}

/** Digits select a rating, and Enter confirms it from anywhere; inside the form the browser does that. */
function useRatingKeys(rating: Rating, select: (value: number) => void, confirm: () => void): void {
  const latest = useRef({ rating, select, confirm });
  latest.current = { rating, select, confirm };
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { rating, select, confirm } = latest.current;
      const value = ratingOfKey(event, rating);
      if (value !== null) select(value);
      if (event.key === "Enter" && !event.repeat && !isControl(event.target)) confirm();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("button, a, input");
}
