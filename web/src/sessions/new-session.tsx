/** Begin a session: about a world, or about files that are dropped or chosen. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { SessionList } from "../api";
import { Card, Meter } from "../components";
import type { Server } from "../server";
import { dropped } from "./drop-zone";
import { Cancelled, NewSessionRequest, type Progress } from "./upload";

interface NewSessionProps {
  server: Server;
  list: SessionList;
  onBegun: (name: string) => void;
}

export function NewSessionCard({ server, list, onBegun }: NewSessionProps): JSX.Element {
  const { progress, problem, start, cancel } = useBeginning(server, onBegun);
  const files = dropped.value;
  useEffect(() => {
    if (files.length === 0 || progress) return;
    dropped.value = [];
    start((request) => request.about(files));
  }, [files]);
  return (
    <Card title="Begin a session">
      {progress ? <Working progress={progress} onCancel={cancel} /> : <Choices list={list} onWorld={(world) => start((request) => request.begin({ world }))} />}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </Card>
  );
}

interface BeginningState {
  progress: Progress | null;
  problem: string;
  start: (begin: (request: NewSessionRequest) => Promise<string>) => void;
  cancel: () => void;
}

function useBeginning(server: Server, onBegun: (name: string) => void): BeginningState {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [problem, setProblem] = useState("");
  const running = useRef<NewSessionRequest | null>(null);
  useEffect(() => () => running.current?.cancel(), []);
  const start: BeginningState["start"] = (begin) => {
    const request = new NewSessionRequest(server, setProgress);
    running.current = request;
    setProblem("");
    setProgress({ text: "Beginning", done: 0, total: 0 });
    const end = (): void => {
      running.current = null;
      setProgress(null);
    };
    begin(request).then(
      (name) => {
        end();
        onBegun(name);
      },
      (error: unknown) => {
        end();
        if (!(error instanceof Cancelled)) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
  };
  return { progress, problem, start, cancel: () => running.current?.cancel() };
}

function Working({ progress: { text, done, total }, onCancel }: { progress: Progress; onCancel: () => void }): JSX.Element {
  return (
    <div class="beginning">
      <p role="status">{text}…</p>
      <Meter fraction={total > 0 ? done / total : 0} label={text} />
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function Choices({ list, onWorld }: { list: SessionList; onWorld: (world: string) => void }): JSX.Element {
  return (
    <>
      <FileChoice accepted={list.accepted} />
      <p class="soft or">or choose a simulated world</p>
      <ul class="worlds">
        {list.worlds.map(({ name, task_description: task }) => (
          <li key={name}>
            <button type="button" class="world" onClick={() => onWorld(name)}>
              <strong>{name}</strong>
              <span class="soft">{task}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function FileChoice({ accepted }: { accepted: string[] }): JSX.Element {
  return (
    <label class="file-choice">
      <input type="file" multiple accept={accepted.join(",")} onChange={(event) => void (dropped.value = [...(event.currentTarget.files ?? [])])} />
      <strong>Choose files, or drop them anywhere on this page</strong>
      <span class="soft">Two videos or more, a table of features (CSV or Parquet), both, or a pool file. They are copied beside the database on the computer that runs Prefero.</span>
    </label>
  );
}
