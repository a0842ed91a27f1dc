/** The robot doing what it learned, and everything to take home. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Player } from "../asking/player";
import type { Finish, Sitting } from "../contract";
import { countOf, figure } from "../figures";
import { useLoad } from "../hooks";
import { Card, Missing } from "../parts";
import type { Server } from "../server";
import type { Theatre } from "../theatre";
import type { View } from "./views";

interface FinishProps {
  sitting: Sitting;
  theatre: Theatre;
  server: Server;
  go: (view: View) => void;
}

export function FinishView({ sitting, theatre, server, go }: FinishProps): JSX.Element {
  const { value, trouble, again } = useLoad(() => server.get<Finish>("/api/finish"), sitting.done);
  return (
    <>
      <h1>What you taught</h1>
      {sitting.done === 0 && <p class="empty">You have not compared a pair yet, so this is no more than a guess.</p>}
      {!value && <Missing trouble={trouble} again={again} words="Looking for the best motion…" />}
      {value && <Result finish={value} theatre={theatre} />}
      <button type="button" class="button primary" onClick={() => go("compare")}>
        Go on comparing
      </button>
    </>
  );
}

function Result({ finish, theatre }: { finish: Finish; theatre: Theatre }): JSX.Element {
  const { best, answers, looks, python } = finish;
  return (
    <>
      <Card title="The robot doing what it learned">
        <p>
          {looks} Learned from {countOf(answers, "answer")}; this motion has a reward of {figure(best.mean)} ±{" "}
          {figure(best.std)}.
        </p>
        <Player theatre={theatre} index={best.index} name="The best motion" />
      </Card>
      <Card title="Take it with you">
        <div class="row">
          <Download file="reward.json" words="The reward" />
          <Download file="answers.csv" words="Your answers, as a table" />
          <Download file="answers.parquet" words="Your answers, as Parquet" />
        </div>
        <Snippet python={python} />
      </Card>
    </>
  );
}

function Download({ file, words }: { file: string; words: string }): JSX.Element {
  return (
    <a class="button download" href={`/api/export/${file}`} download={file}>
      {words} <span class="soft">{file}</span>
    </a>
  );
}

function Snippet({ python }: { python: string }): JSX.Element {
  const [words, setWords] = useState("Copy");
  const copy = (): void => void copyText(python).then((done) => setWords(done ? "Copied" : "Select the text and copy it"));
  return (
    <div class="snippet">
      <div class="snippet-head">
        <h3>Use it in Python</h3>
        <button type="button" class="button" onClick={copy} aria-live="polite">
          {words}
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
