/** What was known before the first question, and how far the answers confirm it. */

import type { JSX } from "preact";

import type { KnownBefore } from "../api";
import { Card } from "../components";
import { formatPercent, formatProbability } from "../format";

export function Known({ known }: { known: KnownBefore[] }): JSX.Element {
  return (
    <Card title="What you already know">
      <ul class="known">
        {known.map((source) => (
          <li key={`${source.source} ${source.says}`}>
            <strong>{source.says}</strong>: {confirmation(source)}
            {!source.trusted && <strong class="not-trusted"> Not trusted.</strong>}
          </li>
        ))}
      </ul>
      <p class="soft">
        How much of what each source says is right, as far as your answers tell. Half would be right by chance. What is
        not trusted hardly counts; your answers always do.
        {known.some(({ compared }) => compared > 0) &&
          " Questions are chosen where least is known, so a score agrees with fewer of your answers than of all possible ones."}
      </p>
    </Card>
  );
}

function confirmation({ support, agreeing, compared }: KnownBefore): string {
  if (support === null) return "too few answers yet to check this.";
  const right = `${formatProbability(support)} right.`;
  return compared === 0 ? right : `${right} It agrees with your answers in ${formatPercent(agreeing / compared)}.`;
}
