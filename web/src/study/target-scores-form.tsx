/** The person gives each target a score. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { TargetScores } from "../contract";
import { Swatch } from "../components";
import { type Draft, emptyDraft, completed, allowedScores, validationMessage, duplicateLabels } from "./target-scores";

interface FormProps {
  scores: TargetScores;
  blocked: boolean;
  onDone: (scores: Record<string, number>) => void;
}

export function TargetScoresForm({ scores, blocked, onDone }: FormProps): JSX.Element {
  const [draft, setDraft] = useState(() => emptyDraft(scores));
  const problem = validationMessage(scores, draft);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!problem && !blocked) onDone(completed(draft));
  };
  return (
    <form class="scores" onSubmit={submit}>
      {scores.labels.map((label, i) => (
        <ScoreRow
          key={label}
          label={label}
          color={scores.colors[i] ?? ""}
          numbers={allowedScores(scores)}
          draft={draft}
          onPick={(score) => setDraft({ ...draft, [label]: score })}
        />
      ))}
      <p class={problem ? "problem" : "fine"} role="status">
        {problem || "Every colour has a number of its own."}
      </p>
      <button class="button primary" disabled={problem !== "" || blocked}>
        Go on
      </button>
    </form>
  );
}

interface RowProps {
  label: string;
  color: string;
  numbers: number[];
  draft: Draft;
  onPick: (score: number) => void;
}

function ScoreRow({ label, color, numbers, draft, onPick }: RowProps): JSX.Element {
  const wrong = duplicateLabels(draft).has(label);
  const takenBy = (number: number): string | undefined =>
    Object.entries(draft).find(([other, score]) => other !== label && score === number)?.[0];
  return (
    <fieldset class={wrong ? "score-row wrong" : "score-row"}>
      <legend>
        <Swatch color={color} /> {label}
      </legend>
      <div class="picks">
        {numbers.map((number) => (
          <label key={number} class={takenBy(number) ? "pick taken" : "pick"} title={takenTooltip(takenBy(number))}>
            <input
              type="radio"
              name={`score-${label}`}
              value={number}
              checked={draft[label] === number}
              onChange={() => onPick(number)}
            />
            <span>{number}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function takenTooltip(label: string | undefined): string | undefined {
  return label && `${label} has this number`;
}
