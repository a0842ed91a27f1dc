/** One clip of a question shown large, in the place of all. */

import { useState } from "preact/hooks";

export interface Large {
  place: number | null; // of the clip among the items; null: all are shown
  show: (place: number) => void; // or all again, if it is large already
  toggle: () => void;
  swap: () => void; // to the next clip
}

/** The next question shows all again: they are there to be compared. */
export function useLarge(question: number, count: number): Large {
  const [chosen, setChosen] = useState<{ question: number; place: number } | null>(null);
  const place = chosen?.question === question ? chosen.place : null;
  const choose = (next: number | null): void => setChosen(next === null ? null : { question, place: next });
  return {
    place,
    show: (next) => choose(next === place ? null : next),
    toggle: () => choose(place === null ? 0 : null),
    swap: () => choose(place === null ? 1 % count : (place + 1) % count),
  };
}
