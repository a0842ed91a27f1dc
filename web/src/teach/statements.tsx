/** Sentences about the reward; what the number of each means is one click away. */

import type { ComponentChildren, JSX } from "preact";

import type { Statement } from "../api";

export function Statements({ statements }: { statements: Statement[] }): JSX.Element {
  return (
    <ul class="statements">
      {statements.map(({ sentence, meaning }) => (
        <li key={sentence}>
          <Meaning of={sentence}>{meaning}</Meaning>
        </li>
      ))}
    </ul>
  );
}

/** A sentence that unfolds into its meaning. */
export function Meaning({ of, children }: { of: string; children: ComponentChildren }): JSX.Element {
  return (
    <details class="meaning">
      <summary>{of}</summary>
      <p class="soft">{children}</p>
    </details>
  );
}
