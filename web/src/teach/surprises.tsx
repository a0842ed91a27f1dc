/** The answers that the model finds improbable given all others: were they slips? */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { HistoryChange, PastAnswer, SurprisingAnswer } from "../api";
import { choiceName } from "../compare/registry";
import { Card } from "../components";
import { formatPercent } from "../format";
import type { Trajectories } from "../trajectories";
import { ReplayDialog } from "./replay";

interface SurprisesProps {
  surprises: SurprisingAnswer[];
  history: PastAnswer[];
  trajectories: Trajectories;
  blocked: boolean;
  onChange: (question: number, change: HistoryChange["kind"]) => void;
}

export function Surprises({ surprises, history, trajectories, blocked, onChange }: SurprisesProps): JSX.Element {
  const [replayed, setReplayed] = useState<PastAnswer | null>(null);
  return (
    <Card title="Answers that surprise it">
      {surprises.length === 0 && <p class="soft">No answer of yours is at odds with the others.</p>}
      {surprises.length > 0 && (
        <p class="soft">
          Judging from all your other answers, it expected something else here. Was that a slip? If not, leave the answer
          as it is: it tells the most.
        </p>
      )}
      <ul class="surprises">
        {surprises.map((surprise) => (
          <Surprise
            key={surprise.question}
            surprise={surprise}
            words={pastAnswer(history, surprise)?.words ?? []}
            blocked={blocked}
            onReplay={() => setReplayed(pastAnswer(history, surprise))}
            onAgain={() => onChange(surprise.question, "undo")}
            onDelete={() => onChange(surprise.question, "delete")}
          />
        ))}
      </ul>
      {replayed && <ReplayDialog answer={replayed} trajectories={trajectories} onClose={() => setReplayed(null)} />}
    </Card>
  );
}

function pastAnswer(history: PastAnswer[], surprise: SurprisingAnswer): PastAnswer | null {
  return history.find(({ question }) => question === surprise.question) ?? null;
}

interface SurpriseProps {
  surprise: SurprisingAnswer;
  words: readonly string[]; // for the levels of a label
  blocked: boolean;
  onReplay: () => void;
  onAgain: () => void;
  onDelete: () => void;
}

function Surprise({ surprise, words, blocked, onReplay, onAgain, onDelete }: SurpriseProps): JSX.Element {
  const { number, choice, kind, probability } = surprise;
  return (
    <li>
      <p>
        <strong>Question {number}:</strong> you answered “{choiceName(choice, kind, words)}”, which it found{" "}
        {probability < 0.01 ? "less than 1%" : formatPercent(probability)} likely.
      </p>
      <div class="row">
        <button type="button" class="button" aria-label={`Look at it again, question ${number}`} onClick={onReplay}>
          Look at it again
        </button>
        <button type="button" class="button" disabled={blocked} aria-label={`A slip: answer it again, question ${number}`} onClick={onAgain}>
          A slip: answer it again
        </button>
        <button type="button" class="button" disabled={blocked} aria-label={`A slip: take it back, question ${number}`} onClick={onDelete}>
          A slip: take it back
        </button>
      </div>
    </li>
  );
}
