/** How far the person has come. */

import type { JSX } from "preact";

import { pluralize } from "../format";
import { Meter } from "../components";

export function progressText(done: number, of: number | null): string {
  if (of === null) return pluralize(done, "answer");
  return done > of ? `${pluralize(done, "answer")}, ${of} asked for` : `${done} of ${of}`;
}

export function Progress({ done, of }: { done: number; of: number | null }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-words">{progressText(done, of)}</span>
      {of !== null && <Meter share={of > 0 ? done / of : 1} label="Answers given" />}
    </div>
  );
}
