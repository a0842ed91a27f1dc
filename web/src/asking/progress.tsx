/** How far the person has come. */

import type { JSX } from "preact";

import { countOf } from "../figures";
import { Meter } from "../parts";

export function progressWords(done: number, of: number | null): string {
  if (of === null) return countOf(done, "answer");
  return done > of ? `${countOf(done, "answer")}, ${of} asked for` : `${done} of ${of}`;
}

export function Progress({ done, of }: { done: number; of: number | null }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-words">{progressWords(done, of)}</span>
      {of !== null && <Meter share={of > 0 ? done / of : 1} label="Answers given" />}
    </div>
  );
}
