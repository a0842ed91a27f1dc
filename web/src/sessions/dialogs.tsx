/** The dialogs in which a session is renamed or copied. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { TeachingSession } from "../api";
import { Dialog, DialogButtons } from "../dialog";
import { pluralize } from "../format";
import type { Server } from "../server";

interface SessionDialogProps {
  server: Server;
  one: TeachingSession;
  onDone: () => void;
  onClose: () => void;
}

export function RenameDialog({ server, one, onDone, onClose }: SessionDialogProps): JSX.Element {
  const rename = (name: string): Promise<unknown> => server.post("/api/sessions/rename", { name: one.name, new: name });
  return <NameDialog title={`Rename ${one.name}`} action="Rename" name={one.name} send={rename} onDone={onDone} onClose={onClose} />;
}

export function CopyDialog({ server, one, onDone, onClose }: SessionDialogProps): JSX.Element {
  const [answers, setAnswers] = useState(true);
  const copy = (name: string): Promise<unknown> => server.post("/api/sessions/copy", { name: one.name, new: name, answers });
  return (
    <NameDialog title={`Copy ${one.name}`} action="Copy" name={`${one.name} copy`} send={copy} onDone={onDone} onClose={onClose}>
      <p>The copy has the same trajectories and settings.</p>
      {one.answers > 0 && (
        <label class="check">
          <input type="checkbox" checked={answers} onChange={() => setAnswers(!answers)} /> With the {pluralize(one.answers, "answer")}
        </label>
      )}
    </NameDialog>
  );
}

interface NameDialogProps {
  title: string;
  action: string;
  name: string;
  send: (name: string) => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
  children?: ComponentChildren;
}

function NameDialog({ title, action, name, send, onDone, onClose, children }: NameDialogProps): JSX.Element {
  const [text, setText] = useState(name);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    send(text.trim()).then(onDone, (error: unknown) => {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <label class="field">
          Name
          <input type="text" required maxLength={100} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {children}
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <DialogButtons action={action} busy={busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
