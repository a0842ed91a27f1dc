/** The stages of a study that consist of text. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Display } from "../api";
import { KeyTable } from "../compare/help";
import { kindOf } from "../compare/registry";
import { Paragraphs } from "../components";
import { pluralize } from "../format";
import { otherKeys } from "../keys";
import type { StageProps } from "./stages";

type TextProps = Pick<StageProps, "title" | "state" | "blocked" | "onDone">;

export function Consent({ title, state, blocked, onDone }: TextProps): JSX.Element {
  const [agreed, setAgreed] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (agreed && !blocked) onDone({ agreed: true });
  };
  return (
    <form class="text-page" onSubmit={submit}>
      <h1>{title}</h1>
      <Paragraphs text={state.text} />
      <label class="agree">
        <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.currentTarget.checked)} />I agree
      </label>
      <button class="button primary" disabled={!agreed || blocked}>
        Continue
      </button>
    </form>
  );
}

/** How examples are shown, of which there are so many at once. */
function shownText(display: Display["kind"], items: number): string {
  if (display !== "features") return items === 1 ? "Each is shown again and again." : "They are shown again and again.";
  const values = items === 1 ? "" : ", with the values of A, B and so on";
  return `They are described by numbers and words. A line of the table is one of their features${values}.`;
}

export function Instructions({ title, state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const { kinds, items, choices, ties, words } = state;
  const kind = kindOf(kinds[0] ?? "");
  const isTable = trajectories.display.kind === "features"; // nothing to play or to tap
  const answering = kinds.length > 1 ? [] : kind.keys({ count: items, choices, ties, words });
  const keys = [...answering, ...otherKeys(!isTable)];
  return (
    <div class="text-page">
      <h1>{title}</h1>
      <Paragraphs text={state.text} />
      <p>{shownText(trajectories.display.kind, items)}</p>
      <div class="for-keyboard">
        <h2>Keys</h2>
        <KeyTable keys={keys} />
        <p>
          There is a button on the page for each of these keys.
          {kinds.length > 1 && " The keys that answer a question are on its buttons."}
        </p>
      </div>
      <p class="for-touch">{touchText(kinds.length > 1, isTable) ?? kind.touch}</p>
      <button type="button" class="button primary" disabled={blocked} onClick={() => onDone({})}>
        I am ready
      </button>
    </div>
  );
}

/** How to answer without a keyboard, where that does not depend on the kind of answers. */
function touchText(isMixed: boolean, isTable: boolean): string | null {
  if (isTable) return "Tap the buttons below the table.";
  return isMixed ? "Tap the buttons below them." : null;
}

export function Done({ title, state }: TextProps): JSX.Element {
  return (
    <div class="text-page">
      <h1>{title}</h1>
      <Paragraphs text={state.text} />
      <p>
        Your {pluralize(state.answered, "answer")} {state.answered === 1 ? "is" : "are"} saved. You can close this page.
      </p>
    </div>
  );
}
