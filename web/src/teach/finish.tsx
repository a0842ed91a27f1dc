/** The robot doing what it learned, and everything to take home. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Player } from "../player/player";
import type { Finish, SessionState } from "../contract";
import { pluralize, formatNumber } from "../format";
import { useLoad } from "../hooks";
import { Card, LoadingOrError } from "../components";
import type { Server } from "../server";
import type { Trajectories } from "../trajectories";
import type { View } from "./views";

interface FinishProps {
  state: SessionState;
  trajectories: Trajectories;
  server: Server;
  go: (view: View) => void;
}

export function FinishView({ state, trajectories, server, go }: FinishProps): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get<Finish>("/api/finish"), state.done);
  return (
    <>
      <h1>What you taught</h1>
      {state.done === 0 && <p class="empty">You have not compared a pair yet, so this is no more than a guess.</p>}
      {!value && <LoadingOrError problem={problem} retry={retry} message="Looking for the best motion…" />}
      {value && <Result finish={value} trajectories={trajectories} />}
      <button type="button" class="button primary" onClick={() => go("compare")}>
        Go on comparing
      </button>
    </>
  );
}

function Result({ finish, trajectories }: { finish: Finish; trajectories: Trajectories }): JSX.Element {
  const { best, answers, looks, python } = finish;
  return (
    <>
      <Card title="The robot doing what it learned">
        <p>
          {looks} Learned from {pluralize(answers, "answer")}; this motion has a reward of {formatNumber(best.mean)} ±{" "}
          {formatNumber(best.std)}.
        </p>
        <Player trajectories={trajectories} index={best.index} name="The best motion" />
      </Card>
      <Card title="Take it with you">
        <div class="row">
          <Download file="reward.json" message="The reward" />
          <Download file="answers.csv" message="Your answers, as a table" />
          <Download file="answers.parquet" message="Your answers, as Parquet" />
        </div>
        <Snippet python={python} />
      </Card>
    </>
  );
}

function Download({ file, message }: { file: string; message: string }): JSX.Element {
  return (
    <a class="button download" href={`/api/export/${file}`} download={file}>
      {message} <span class="soft">{file}</span>
    </a>
  );
}

function Snippet({ python }: { python: string }): JSX.Element {
  const [message, setWords] = useState("Copy");
  const copy = (): void => void copyText(python).then((done) => setWords(done ? "Copied" : "Select the text and copy it"));
  return (
    <div class="snippet">
      <div class="snippet-head">
        <h3>Use it in Python</h3>
        <button type="button" class="button" onClick={copy} aria-live="polite">
          {message}
        </button>
      </div>
      <pre>
        <code>{python}</code>
      </pre>
    </div>
  );
}

/** Browsers lend the clipboard only to pages that came over HTTPS or from this machine. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
