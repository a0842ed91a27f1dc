/** The best trajectory, and what can be downloaded. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { ExportPath, RewardSummary } from "../api";
import { Card, LoadingOrError, TrajectoryName } from "../components";
import { formatReward, pluralize } from "../format";
import { useLoad } from "../hooks";
import { Player } from "../player/player";
import type { Server } from "../server";
import type { Trajectories } from "../trajectories";
import { Statements } from "./statements";
import type { TabProps } from "./tabs";

export function FinishView({ state, trajectories, server, open }: TabProps): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/reward"), state.answered);
  return (
    <>
      <h1>What you taught</h1>
      {state.answered === 0 && <p class="empty">You have not answered a question yet, so the reward is still unknown.</p>}
      {!value && <LoadingOrError problem={problem} retry={retry} message="Finding the best trajectory…" />}
      {value && <Result reward={value} trajectories={trajectories} server={server} />}
      <button type="button" class="button primary" onClick={() => open("compare")}>
        Continue answering
      </button>
    </>
  );
}

function Result({ reward, trajectories, server }: { reward: RewardSummary; trajectories: Trajectories; server: Server }): JSX.Element {
  const { best, answers, statements, python } = reward;
  return (
    <>
      <Card title="What it learned">
        <Statements statements={statements} />
        <p class="soft">Learned from {pluralize(answers, "answer")}.</p>
      </Card>
      {best && (
        <Card title="The trajectory with the highest reward">
          <p>
            The best is <TrajectoryName index={best.index} id={best.id} />, {formatReward(best)} standard deviations (of
            the reward over all trajectories) above the average one. {best.certainty}
          </p>
          <Player trajectories={trajectories} index={best.index} name="The best trajectory" />
        </Card>
      )}
      <Card title="Download">
        <div class="row">
          <Download server={server} path="/api/export/everything.zip" label="Download everything" primary />
          <Download server={server} path="/api/export/report.html" label="The report" />
          <Download server={server} path="/api/export/reward.json" label="The reward" />
          <Download server={server} path="/api/export/answers.csv" label="Your answers as CSV" />
          <Download server={server} path="/api/export/answers.parquet" label="Your answers as Parquet" />
          <Download server={server} path="/api/export/trajectories.csv" label="The trajectories as CSV" />
        </div>
        <Snippet python={python} />
      </Card>
    </>
  );
}

interface DownloadProps {
  server: Server;
  path: ExportPath;
  label: string;
  primary?: boolean;
}

export function Download({ server, path, label, primary = false }: DownloadProps): JSX.Element {
  const file = path.replace("/api/export/", "");
  return (
    <a class={primary ? "button download primary" : "button download"} href={server.addressOf(path)} download={file}>
      {label} <span class="soft">{file}</span>
    </a>
  );
}

function Snippet({ python }: { python: string }): JSX.Element {
  const [label, setLabel] = useState("Copy");
  const copy = (): void => void copyText(python).then((done) => setLabel(done ? "Copied" : "Select the text and copy it"));
  return (
    <div class="snippet">
      <div class="snippet-head">
        <h3>Use the reward in Python</h3>
        <button type="button" class="button" onClick={copy} aria-live="polite">
          {label}
        </button>
      </div>
      <pre>
        <code>{python}</code>
      </pre>
    </div>
  );
}

/** Browsers give access to the clipboard only to pages served over HTTPS or from localhost. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
