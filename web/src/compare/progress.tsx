/** How many questions are answered. */

import type { JSX } from "preact";

import { Meter } from "../components";
import { pluralize } from "../format";

export function progressText(answered: number, total: number): string {
  return answered > total ? `${pluralize(answered, "answer")} (${total} planned)` : `${answered} of ${total}`;
}

export function Progress({ answered, total }: { answered: number; total: number }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-text">{progressText(answered, total)}</span>
      <Meter fraction={total > 0 ? answered / total : 1} label="Answers given" />
    </div>
  );
}
