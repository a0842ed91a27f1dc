/** The stages of a study that consist of text. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { KeyTable } from "../compare/help";
import { answerCommands, answerOptions, formOf, itemsOf, missingCommands } from "../compare/kinds";
import { Paragraphs } from "../components";
import { pluralize } from "../format";
import { PLAYER_COMMANDS } from "../keys";
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

const TOUCH = {
  pair: "Tap a button below the two, or tap the one that you prefer.",
  strength: "Tap the one that you prefer; hold it for a moment if it is much better. There is also a button for each answer.",
  best: "Tap the best one, or its button.",
  worst: "Tap the worst one, or its button.",
  rank: "Tap them from the best to the worst; drag their letters to change the order.",
} as const;

const HOW_SHOWN = {
  scene: "They are shown again and again.",
  clips: "They are shown again and again.",
  features: "They are described by numbers and words. A line of the table is one of their features, with the values of A, B and so on.",
} as const;

export function Instructions({ title, state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const kind = state.answers;
  const isTable = trajectories.display.kind === "features"; // nothing to play or to tap
  const missing = [
    ...missingCommands(answerCommands(kind, answerOptions(kind, state.choices), itemsOf(kind), state.ties)),
    ...(isTable ? PLAYER_COMMANDS : []),
  ];
  return (
    <div class="text-page">
      <h1>{title}</h1>
      <Paragraphs text={state.text} />
      <p>{HOW_SHOWN[trajectories.display.kind]}</p>
      <div class="for-keyboard">
        <h2>Keys</h2>
        <KeyTable without={missing} />
        <p>There is a button on the page for each of these keys.</p>
      </div>
      <p class="for-touch">{isTable ? "Tap the buttons below the table." : TOUCH[formOf(kind)]}</p>
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
