/** The answers so far. Each question can be replayed; an answer given by mistake can be deleted and restored. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { PastAnswer } from "../api";
import { itemLabel } from "../compare/layout";
import { choiceName } from "../compare/registry";
import { TrajectoryName } from "../components";
import { formatNumber } from "../format";
import type { Trajectories } from "../trajectories";
import { ReplayDialog } from "./replay";

const dateTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

interface HistoryProps {
  answers: PastAnswer[];
  trajectories: Trajectories;
  blocked: boolean;
  onChange: (question: number, change: "delete" | "restore") => void;
}

/** One column for each item of the longest question. */
export function History({ answers, trajectories, blocked, onChange }: HistoryProps): JSX.Element {
  const [replayed, setReplayed] = useState<PastAnswer | null>(null);
  const most = Math.max(1, ...answers.map((answer) => answer.items.length));
  return (
    <div class="table-frame table-long history">
      <table>
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">Answer</th>
            {Array.from({ length: most }, (_, i) => (
              <th scope="col" key={i}>{most === 1 ? "Trajectory" : itemLabel(i)}</th>
            ))}
            <th scope="col" class="number detail">Time</th>
            <th scope="col" class="detail">Date</th>
            <th scope="col">
              <span class="visually-hidden">Replay or change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...answers].reverse().map((answer) => (
            <AnswerRow
              key={answer.question}
              answer={answer}
              columns={most}
              blocked={blocked}
              onChange={onChange}
              onReplay={() => setReplayed(answer)}
            />
          ))}
        </tbody>
      </table>
      {replayed && <ReplayDialog answer={replayed} trajectories={trajectories} onClose={() => setReplayed(null)} />}
    </div>
  );
}

interface RowProps extends Pick<HistoryProps, "blocked" | "onChange"> {
  answer: PastAnswer;
  columns: number;
  onReplay: () => void;
}

function AnswerRow({ answer, columns, blocked, onChange, onReplay }: RowProps): JSX.Element {
  const change = answer.deleted ? "restore" : "delete";
  const label = answer.deleted ? "Restore" : "Delete";
  const { items, ids } = answer;
  return (
    <tr class={answer.deleted ? "deleted" : ""}>
      <th scope="row">{answer.number}</th>
      <td>
        {choiceName(answer.choice, answer.kind, answer.words)}
        {answer.because !== null && <span class="soft"> because of {answer.because}</span>}
        {answer.deleted && <span class="visually-hidden"> (deleted)</span>}
      </td>
      {Array.from({ length: columns }, (_, i) => (
        <td key={i}>{items[i] !== undefined && <TrajectoryName index={items[i]} id={ids?.[i] ?? null} />}</td>
      ))}
      <td class="number detail">{answer.seconds === null ? "–" : `${formatNumber(answer.seconds)} s`}</td>
      <td class="detail">{dateTime.format(new Date(answer.at))}</td>
      <td class="row-actions">
        <button type="button" class="link-button" aria-label={`Replay question ${answer.number}`} onClick={onReplay}>
          Replay
        </button>
        <button
          type="button"
          class="link-button"
          disabled={blocked}
          aria-label={`${label} answer ${answer.number}`}
          onClick={() => onChange(answer.question, change)}
        >
          {label}
        </button>
      </td>
    </tr>
  );
}
