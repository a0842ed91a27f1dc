/** All answers so far; one given by mistake can be taken out, and put back. */

import type { JSX } from "preact";

import type { Choice, PastAnswer } from "../contract";
import { formatNumber } from "../format";

const WORDS: Record<Choice, string> = { left: "A", right: "B", equal: "about equal", skip: "skipped" };
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

interface HistoryProps {
  answers: PastAnswer[];
  blocked: boolean;
  onChange: (question: number, change: "delete" | "restore") => void;
}

export function History({ answers, blocked, onChange }: HistoryProps): JSX.Element {
  return (
    <div class="table-frame table-long">
      <table>
        <thead>
          <tr>
            <th scope="col">Pair</th>
            <th scope="col">Answer</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col" class="number">Time</th>
            <th scope="col">When</th>
            <th scope="col">
              <span class="unseen">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...answers].reverse().map((answer) => (
            <AnswerRow key={answer.question} answer={answer} blocked={blocked} onChange={onChange} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AnswerRow({ answer, blocked, onChange }: Omit<HistoryProps, "answers"> & { answer: PastAnswer }): JSX.Element {
  const change = answer.deleted ? "restore" : "delete";
  const message = answer.deleted ? "Restore" : "Delete";
  return (
    <tr class={answer.deleted ? "deleted" : ""}>
      <th scope="row">{answer.number}</th>
      <td>
        {WORDS[answer.choice]}
        {answer.deleted && <span class="unseen"> (deleted)</span>}
      </td>
      <td>no. {answer.left}</td>
      <td>no. {answer.right}</td>
      <td class="number">{answer.seconds === null ? "–" : `${formatNumber(answer.seconds)} s`}</td>
      <td>{clock.format(new Date(answer.at))}</td>
      <td>
        <button
          type="button"
          class="quiet"
          disabled={blocked}
          aria-label={`${message} answer ${answer.number}`}
          onClick={() => onChange(answer.question, change)}
        >
          {message}
        </button>
      </td>
    </tr>
  );
}
