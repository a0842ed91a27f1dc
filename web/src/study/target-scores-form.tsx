/** A form in which the participant gives each target a score. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { TargetScores } from "../api";
import { Swatch } from "../components";
import { allowedScores, completed, type Draft, duplicateLabels, emptyDraft, validationMessage } from "./target-scores";

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
          onSelect={(score) => setDraft({ ...draft, [label]: score })}
        />
      ))}
      <p class={problem ? "problem" : "valid"} role="status">
        {problem || "All numbers are different."}
      </p>
      <button class="button primary" disabled={problem !== "" || blocked}>
        Continue
      </button>
    </form>
  );
}

interface RowProps {
  label: string;
  color: string;
  numbers: number[];
  draft: Draft;
  onSelect: (score: number) => void;
}

function ScoreRow({ label, color, numbers, draft, onSelect }: RowProps): JSX.Element {
  const invalid = duplicateLabels(draft).has(label);
  const usedBy = (number: number): string | undefined =>
    Object.entries(draft).find(([other, score]) => other !== label && score === number)?.[0];
  return (
    <fieldset class={invalid ? "score-row invalid" : "score-row"}>
      <legend>
        <Swatch color={color} /> {label}
      </legend>
      <div class="choices">
        {numbers.map((number) => (
          <label key={number} class={usedBy(number) ? "choice used" : "choice"} title={usedTooltip(usedBy(number))}>
            <input
              type="radio"
              name={`score-${label}`}
              value={number}
              checked={draft[label] === number}
              onChange={() => onSelect(number)}
            />
            <span>{number}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function usedTooltip(label: string | undefined): string | undefined {
  return label && `${label} has this number`;
}
