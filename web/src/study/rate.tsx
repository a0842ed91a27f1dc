/** How well does one trajectory do what the person wants? */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Player } from "../player/player";
import type { Rating } from "../contract";
import type { Trajectories } from "../trajectories";

interface RateProps {
  rating: Rating;
  trajectories: Trajectories;
  blocked: boolean;
  onRate: (rating: number) => void;
}

export function Rate({ rating, trajectories, blocked, onRate }: RateProps): JSX.Element {
  const [picked, setPicked] = useState<number | null>(null);
  useEffect(() => setPicked(null), [rating.number, rating.trajectory]);
  const submit = (event?: Event): void => {
    event?.preventDefault();
    if (picked !== null && !blocked) onRate(picked);
  };
  useRatingKeys(rating, setPicked, submit);
  return (
    <form class="rate" onSubmit={submit}>
      <p class="soft">
        {rating.number} of {rating.of}
      </p>
      <Player trajectories={trajectories} index={rating.trajectory} name="The robot's motion" />
      <fieldset class="scale">
        <legend>
          <h1>How well does this do what you want?</h1>
        </legend>
        <div class="picks">
          {scaleOf(rating).map((value) => (
            <label key={value} class="pick">
              <input
                type="radio"
                name="rating"
                value={value}
                checked={picked === value}
                onChange={() => setPicked(value)}
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
      <button class="button primary" disabled={picked === null || blocked}>
        Confirm
      </button>
    </form>
  );
}

function scaleOf({ lowest, highest }: Rating): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** The digit of a key stroke, if it is a mark of this scale. */
export function ratingOfKey(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey">, rating: Rating): number | null {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^\d$/.test(event.key)) return null;
  const value = Number(event.key);
  return value >= rating.lowest && value <= rating.highest ? value : null;
}

/** Digits pick, and Enter confirms from anywhere; in the form itself the browser does that already. */
function useRatingKeys(rating: Rating, pick: (value: number) => void, confirm: () => void): void {
  const latest = useRef({ rating, confirm });
  latest.current = { rating, confirm };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const value = ratingOfKey(event, latest.current.rating);
      if (value !== null) pick(value);
      if (event.key === "Enter" && !event.repeat && !presses(event.target)) latest.current.confirm();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function presses(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("button, a, input");
}
