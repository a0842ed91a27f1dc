/** The answers so far. One given by mistake can be deleted and restored. */

import type { JSX } from "preact";

import type { Choice, PastAnswer } from "../api";
import { itemLabel } from "../compare/layout";
import { formatNumber } from "../format";

const ANSWERS: Record<Choice, string> = { left: "A", right: "B", equal: "about equal" };
const dateTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

interface HistoryProps {
  answers: PastAnswer[];
  blocked: boolean;
  onChange: (question: number, change: "delete" | "restore") => void;
}

/** One column for each item of the longest question. */
export function History({ answers, blocked, onChange }: HistoryProps): JSX.Element {
  const most = Math.max(2, ...answers.map((answer) => answer.items.length));
  return (
    <div class="table-frame table-long">
      <table>
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">Answer</th>
            {Array.from({ length: most }, (_, i) => (
              <th scope="col" key={i}>{itemLabel(i)}</th>
            ))}
            <th scope="col" class="number">Time</th>
            <th scope="col">Date</th>
            <th scope="col">
              <span class="visually-hidden">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...answers].reverse().map((answer) => (
            <AnswerRow key={answer.question} answer={answer} columns={most} blocked={blocked} onChange={onChange} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<HistoryProps, "answers"> {
  answer: PastAnswer;
  columns: number;
}

function AnswerRow({ answer, columns, blocked, onChange }: RowProps): JSX.Element {
  const change = answer.deleted ? "restore" : "delete";
  const label = answer.deleted ? "Restore" : "Delete";
  const items = answer.items;
  return (
    <tr class={answer.deleted ? "deleted" : ""}>
      <th scope="row">{answer.number}</th>
      <td>
        {ANSWERS[answer.choice]}
        {answer.deleted && <span class="visually-hidden"> (deleted)</span>}
      </td>
      {Array.from({ length: columns }, (_, i) => (
        <td key={i}>{items[i] === undefined ? "" : `no. ${items[i]}`}</td>
      ))}
      <td class="number">{answer.seconds === null ? "–" : `${formatNumber(answer.seconds)} s`}</td>
      <td>{dateTime.format(new Date(answer.at))}</td>
      <td>
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
