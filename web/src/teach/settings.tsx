/** The settings of a session: what to do, the kind of answers, how many, and when to stop. Answers stay as they are. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { TeachingSession } from "../api";
import { LoadingOrError } from "../components";
import { Dialog, DialogButtons } from "../dialog";
import { useLoad } from "../hooks";
import type { Server } from "../server";
import type { Session } from "../session";
import { announceChange } from "./changes";

interface SettingsProps {
  server: Server;
  session: Session;
  onClose: () => void;
}

/** The usual kinds; others can be typed. */
export const KINDS: Record<string, string> = {
  pair: "The better of two",
  "pair-or-none": "The better of two, or none",
  "best-of-3": "The best of three",
  "best-of-4": "The best of four",
  "rank-3": "Three, ranked",
  strength: "The better of two, and how clearly",
  success: "Success or not, one at a time",
  "rate-5": "Five grades, one at a time",
  auto: "What tells most for the time it takes",
};

export function SettingsDialog({ server, session, onClose }: SettingsProps): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/sessions"), "settings");
  const own = value?.sessions.find(({ people }) => people.some((one) => one.session === server.session));
  return (
    <Dialog title="Settings of this session" onClose={onClose}>
      {own ? (
        <SettingsForm server={server} own={own} onDone={() => void session.open().then(onClose)} onCancel={onClose} />
      ) : (
        <LoadingOrError problem={problem} retry={retry} message="Loading…" />
      )}
    </Dialog>
  );
}

interface Fields {
  task: string;
  answers: string;
  questions: string;
  words: string;
  goal: string;
}

function fieldsOf({ settings }: TeachingSession): Fields {
  const { task_description: task, answers, questions, words, goal } = settings;
  const percent = goal === null ? "" : String(Math.round(1000 * goal) / 10);
  return { task, answers, questions: String(questions), words: words.join(", "), goal: percent };
}

export function changedSettings(name: string, { task, answers, questions, words, goal }: Fields) {
  const listed = words.split(",").map((word) => word.trim());
  return {
    name,
    task_description: task,
    answers,
    questions: Number(questions),
    words: listed.filter(Boolean),
    goal: goal.trim() ? Number(goal) / 100 : null,
  };
}

function SettingsForm({ server, own, onDone, onCancel }: { server: Server; own: TeachingSession; onDone: () => void; onCancel: () => void }): JSX.Element {
  const [fields, setFields] = useState(() => fieldsOf(own));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const change = (changes: Partial<Fields>): void => setFields({ ...fields, ...changes });
  const save = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    server.post("/api/sessions/settings", changedSettings(own.name, fields)).then(
      () => {
        announceChange(server.session);
        onDone();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(error instanceof Error ? error.message : String(error));
      },
    );
  };
  return (
    <form class="settings" onSubmit={save}>
      <label class="field">
        What to do, in a sentence above every question
        <textarea rows={2} value={fields.task} placeholder={own.task_description} onInput={(event) => change({ task: event.currentTarget.value })} />
      </label>
      <KindField answers={fields.answers} onChange={(answers) => change({ answers })} />
      <div class="settings-row">
        <label class="field">
          Planned questions
          <input type="number" min="1" max="10000" required value={fields.questions} onInput={(event) => change({ questions: event.currentTarget.value })} />
        </label>
        <label class="field">
          Stop at % predicted
          <input type="number" min="50.1" max="99.9" step="0.1" placeholder="never" value={fields.goal} onInput={(event) => change({ goal: event.currentTarget.value })} />
        </label>
      </div>
      <label class="field">
        Words for grades, the lowest first
        <input type="text" value={fields.words} placeholder="the usual ones" onInput={(event) => change({ words: event.currentTarget.value })} />
      </label>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="soft">Your answers stay. An open question of another kind is skipped.</p>
      <DialogButtons action="Save" busy={busy} onCancel={onCancel} />
    </form>
  );
}

/** The usual kinds in words; another one, or several, as the command line takes them. */
function KindField({ answers, onChange }: { answers: string; onChange: (answers: string) => void }): JSX.Element {
  const [typed, setTyped] = useState(!Object.hasOwn(KINDS, answers));
  const choose = (value: string): void => {
    setTyped(value === "");
    if (value) onChange(value);
  };
  return (
    <>
      <label class="field">
        Kind of answers
        <select value={typed ? "" : answers} onChange={(event) => choose(event.currentTarget.value)}>
          {Object.entries(KINDS).map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
          <option value="">Another one, or several</option>
        </select>
      </label>
      {typed && (
        <label class="field">
          Kinds, such as pair, rate-5
          <input type="text" value={answers} onInput={(event) => onChange(event.currentTarget.value)} />
        </label>
      )}
    </>
  );
}
