/** The answers so far. Each question can be replayed; an answer given by mistake can be deleted and restored. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { PastAnswer } from "../api";
import { itemLabel } from "../compare/layout";
import { choiceName } from "../compare/registry";
import { TrajectoryName } from "../components";
import { pluralize } from "../format";
import type { Trajectories } from "../trajectories";
import { TagList } from "./remarks";
import { ReplayDialog } from "./replay";

const dateTime = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface HistoryProps {
  answers: PastAnswer[];
  trajectories: Trajectories;
  blocked: boolean;
  onChange: (question: number, change: "delete" | "restore") => void;
  onNote?: (answer: PastAnswer) => void; // write a note or a tag
}

const SEARCHED = 6; // answers from which a search field is shown

/** In all that the row shows in words: the answer, the trajectories, the reason, the note, and the tags. */
function contains({ choice, kind, words, ids, items, because, note, tags, number }: PastAnswer, text: string): boolean {
  const shown = [choiceName(choice, kind, words), ...(ids ?? []), ...items.map((item) => `no. ${item}`), because ?? "", note, ...tags, String(number)];
  return shown.some((one) => one.toLowerCase().includes(text.trim().toLowerCase()));
}

/** One column for each item of the longest question. */
export function History({ answers, trajectories, blocked, onChange, onNote }: HistoryProps): JSX.Element {
  const [replayed, setReplayed] = useState<PastAnswer | null>(null);
  const [text, setText] = useState("");
  const found = answers.filter((answer) => contains(answer, text));
  const most = Math.max(1, ...answers.map((answer) => answer.items.length));
  return (
    <>
      {answers.length >= SEARCHED && <Search text={text} found={found.length} onInput={setText} />}
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
            {[...found].reverse().map((answer) => (
              <AnswerRow
                key={answer.question}
                answer={answer}
                columns={most}
                blocked={blocked}
                onChange={onChange}
                onReplay={() => setReplayed(answer)}
                onNote={onNote && (() => onNote(answer))}
              />
            ))}
          </tbody>
        </table>
        {replayed && <ReplayDialog answer={replayed} trajectories={trajectories} onClose={() => setReplayed(null)} />}
      </div>
    </>
  );
}

function Search({ text, found, onInput }: { text: string; found: number; onInput: (text: string) => void }): JSX.Element {
  return (
    <div class="history-search">
      <label class="pool-field">
        Search
        <input type="search" value={text} placeholder="Answer, trajectory, note or tag" onInput={(event) => onInput(event.currentTarget.value)} />
      </label>
      <p class="soft" role="status">
        {text.trim() && (found === 0 ? "No answer fits" : pluralize(found, "answer"))}
      </p>
    </div>
  );
}

interface RowProps extends Pick<HistoryProps, "blocked" | "onChange"> {
  answer: PastAnswer;
  columns: number;
  onReplay: () => void;
  onNote: (() => void) | undefined;
}

function AnswerRow({ answer, columns, blocked, onChange, onReplay, onNote }: RowProps): JSX.Element {
  const change = answer.deleted ? "restore" : "delete";
  const label = answer.deleted ? "Restore" : "Delete";
  const { items, ids } = answer;
  return (
    <tr class={answer.deleted ? "deleted" : ""}>
      <th scope="row">{answer.number}</th>
      <td>
        {choiceName(answer.choice, answer.kind, answer.words)}
        {answer.because !== null && <span class="soft"> because of {answer.because}</span>}
        {answer.selection === "by-hand" && <span class="soft"> chosen by hand</span>}
        {answer.deleted && <span class="visually-hidden"> (deleted)</span>}
        <TagList tags={answer.tags} />
        {answer.note && <span class="history-note">{answer.note}</span>}
      </td>
      {Array.from({ length: columns }, (_, i) => (
        <td key={i}>{items[i] !== undefined && <TrajectoryName index={items[i]} id={ids?.[i] ?? null} />}</td>
      ))}
      <td class="number detail">{answer.seconds === null ? "–" : `${answer.seconds.toFixed(1)} s`}</td>
      <td class="detail" title={answer.at}>{dateTime.format(new Date(answer.at))}</td>
      <td class="row-actions">
        <button type="button" class="link-button" aria-label={`Replay question ${answer.number}`} onClick={onReplay}>
          Replay
        </button>
        {onNote && (
          <button type="button" class="link-button" aria-label={`Note on answer ${answer.number}`} onClick={onNote}>
            Note
          </button>
        )}
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
