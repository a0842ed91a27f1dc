/** The stages of a study that consist of text. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { answerOptions, missingChoices } from "../compare/answers";
import { KeyTable } from "../compare/help";
import { Paragraphs } from "../components";
import { PLAYER_COMMANDS } from "../keys";
import { StandingsTable } from "./arena";
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
  scene: "Both are shown again and again.",
  clips: "Both are shown again and again.",
  features: "They are described by numbers and words. A line of the table is one of their features, with the values of A and B.",
} as const;

export function Instructions({ title, state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const missing = [
    ...missingChoices(answerOptions(2, state.choices)),
    ...(trajectories.display.kind === "features" ? PLAYER_COMMANDS : []),
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
      <p class="for-touch">Tap a button below the two, or tap the one that you prefer.</p>
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
      {state.arena?.standings && <StandingsTable standings={state.arena.standings} />}
      <p>Your answers are saved. You can close this page.</p>
    </div>
  );
}
