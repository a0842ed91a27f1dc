/** The stages of a study that consist of text. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { KeyTable } from "../compare/help";
import { itemsOf, kindOf } from "../compare/registry";
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

const HOW_SHOWN = {
  scene: "They are shown again and again.",
  clips: "They are shown again and again.",
  features: "They are described by numbers and words. A line of the table is one of their features, with the values of A, B and so on.",
} as const;

export function Instructions({ title, state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const { answers, choices, ties } = state;
  const kind = kindOf(answers);
  const isTable = trajectories.display.kind === "features"; // nothing to play or to tap
  const keys = [...kind.keys({ count: itemsOf(answers), choices, ties }), ...otherKeys(!isTable)];
  return (
    <div class="text-page">
      <h1>{title}</h1>
      <Paragraphs text={state.text} />
      <p>{HOW_SHOWN[trajectories.display.kind]}</p>
      <div class="for-keyboard">
        <h2>Keys</h2>
        <KeyTable keys={keys} />
        <p>There is a button on the page for each of these keys.</p>
      </div>
      <p class="for-touch">{isTable ? "Tap the buttons below the table." : kind.touch}</p>
      <button type="button" class="button primary" disabled={blocked} onClick={() => onDone({})}>
        I am ready
      </button>
    </div>
  );
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
