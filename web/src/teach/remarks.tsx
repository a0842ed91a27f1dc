/** A note and tags on a trajectory or on an answer, which a teacher can write and change. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { GivenAnnotation, PastAnswer, SessionState } from "../api";
import { Banner, Loading } from "../components";
import { useKeys, useLoad } from "../hooks";
import { keepFocus } from "../player/controls";
import type { Server } from "../server";
import type { Session } from "../session";

const LONGEST_NOTE = 2000; // letters, as the server counts them
const LONGEST_TAG = 40;
const NONE: Remarks = { note: "", tags: [] };

interface Remarks {
  note: string;
  tags: readonly string[];
}

/** What is written about: one of the two. */
type Subject = Pick<GivenAnnotation, "trajectory"> | Pick<GivenAnnotation, "question">;

export function TagList({ tags }: { tags: readonly string[] }): JSX.Element | null {
  if (tags.length === 0) return null;
  return (
    <ul class="tags" aria-label="Tags">
      {tags.map((tag) => (
        <li class="tag" key={tag}>
          {tag}
        </li>
      ))}
    </ul>
  );
}

interface EditorProps {
  of: Subject;
  remarks: Remarks; // as they were when it was opened
  known: readonly string[]; // tags in use, which are suggested
  session: Session;
  focused?: boolean; // one can type at once
}

/** A tag is stored at once, and a note when the field is left. What the server refuses stays in the field. */
export function RemarksEditor({ of, remarks, known, session, focused = false }: EditorProps): JSX.Element {
  const [now, setNow] = useState(remarks);
  const [status, setStatus] = useState("");
  const write = (kind: GivenAnnotation["kind"], text: string, next: Remarks): void => {
    setStatus("Saving…");
    void session.annotate({ ...of, kind, text }).then((problem) => {
      setStatus(problem || "Saved");
      if (!problem) setNow(next);
    });
  };
  return (
    <div class="remarks">
      <NoteField note={now.note} focused={focused} onSave={(note) => write("note", note, { ...now, note })} />
      <TagField
        now={now}
        known={known}
        onAdd={(tag) => write("tag", tag, { ...now, tags: [...now.tags, tag] })}
        onRemove={(tag) => write("untag", tag, { ...now, tags: now.tags.filter((one) => one !== tag) })}
      />
      <p class="remarks-status soft" role="status">
        {status}
      </p>
    </div>
  );
}

interface TagFieldProps {
  now: Remarks;
  known: readonly string[];
  onAdd: (tag: string) => void;
  onRemove: (tag: string) => void;
}

function TagField({ now, known, onAdd, onRemove }: TagFieldProps): JSX.Element {
  const [text, setText] = useState("");
  const list = useId();
  const has = (tag: string): boolean => now.tags.some((one) => one.toLowerCase() === tag.toLowerCase());
  const add = (): void => {
    const tag = text.split(/\s+/).filter(Boolean).join(" ");
    if (tag && !has(tag)) onAdd(tag);
    setText("");
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // or the dialog around it would be sent
    add();
  };
  return (
    <div class="tag-field">
      <label class="remarks-field">
        Tag
        <span class="tag-input">
          <input
            type="text"
            value={text}
            list={list}
            maxLength={LONGEST_TAG}
            placeholder="such as collision"
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={onKey}
          />
          <button type="button" class="button" disabled={!text.trim()} onClick={add}>
            Add
          </button>
        </span>
      </label>
      <span class="tags">
        {now.tags.map((tag) => (
          <button type="button" class="tag tag-remove" key={tag} aria-label={`Remove the tag ${tag}`} onClick={() => onRemove(tag)}>
            {tag} <span aria-hidden="true">×</span>
          </button>
        ))}
      </span>
      <datalist id={list}>
        {known.filter((tag) => !has(tag)).map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </div>
  );
}

function NoteField({ note, focused, onSave }: { note: string; focused: boolean; onSave: (note: string) => void }): JSX.Element {
  const [text, setText] = useState(note);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (focused) field.current?.focus();
  }, [focused]);
  const latest = useRef({ text, note, onSave });
  latest.current = { text, note, onSave };
  const save = (): void => {
    const { text: typed, note: before, onSave: send } = latest.current;
    if (typed.trim() !== before.trim()) send(typed.trim());
  };
  useEffect(() => save, []); // a dialog may be closed while the field has the focus
  return (
    <label class="remarks-field">
      Note
      <textarea ref={field} rows={2} maxLength={LONGEST_NOTE} value={text} onInput={(event) => setText(event.currentTarget.value)} onBlur={save} />
    </label>
  );
}

interface RemarksDialogProps {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
}

/** A modal <dialog>: the browser keeps the focus inside and closes it on Esc. */
function RemarksDialog({ title, children, onClose }: RemarksDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="help remarks-dialog" ref={dialog} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <form method="dialog">
        <button class="button primary">Close</button>
      </form>
    </dialog>
  );
}

/** Of an answer of the history. */
export function AnswerRemarks({ answer, session, server, onClose }: { answer: PastAnswer; session: Session; server: Server; onClose: () => void }): JSX.Element {
  return (
    <RemarksDialog title={`Note on answer ${answer.number}`} onClose={onClose}>
      <LoadedEditor question={answer.question} session={session} server={server} focused />
    </RemarksDialog>
  );
}

/** A small button beside a question, and T: a note on this question, or on the answer before it. */
export function QuestionRemarks({ session, state, server }: { session: Session; state: SessionState; server: Server }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  useKeys({ note: () => setOpen(true) });
  const question = state.question?.id ?? 0;
  if (question === 0) return null;
  return (
    <>
      <button type="button" class="secondary-button" onClick={() => setOpen(true)} onMouseDown={keepFocus}>
        Note{" "}
        <kbd class="hint" aria-hidden="true">
          T
        </kbd>
      </button>
      {open && (
        <RemarksDialog title="Notes and tags" onClose={() => setOpen(false)}>
          <h3>This question</h3>
          <LoadedEditor question={question} session={session} server={server} focused />
          {state.undoable !== null && state.undoable !== question && (
            <>
              <h3>The answer before it</h3>
              <LoadedEditor question={state.undoable} session={session} server={server} />
            </>
          )}
        </RemarksDialog>
      )}
    </>
  );
}

interface LoadedProps {
  question: number;
  session: Session;
  server: Server;
  focused?: boolean;
}

/** With what was written before, and the tags in use. */
function LoadedEditor({ question, session, server, focused = false }: LoadedProps): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/annotations"), question);
  if (problem) return <Banner message={problem} retry={retry} />;
  if (!value) return <Loading message="Loading the notes…" />;
  const found = value.questions.find((one) => one.of === question) ?? NONE;
  return <RemarksEditor of={{ question }} remarks={found} known={value.tags.map(({ tag }) => tag)} session={session} focused={focused} />;
}
