/** How many questions are answered. */

import type { JSX } from "preact";

import { Meter } from "../components";
import { pluralize } from "../format";

export function progressText(done: number, of: number | null): string {
  if (of === null) return pluralize(done, "answer");
  return done > of ? `${pluralize(done, "answer")} (${of} planned)` : `${done} of ${of}`;
}

export function Progress({ done, of }: { done: number; of: number | null }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-text">{progressText(done, of)}</span>
      {of !== null && <Meter fraction={of > 0 ? done / of : 1} label="Answers given" />}
    </div>
  );
}
