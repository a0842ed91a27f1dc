/** What a teacher should know before closing the page: the answers are saved, how to come back, what the reward is. */

import type { JSX } from "preact";

import type { TeachingPlace } from "../api";
import { Card, LoadingOrError } from "../components";
import { pluralize } from "../format";
import { useLoad } from "../hooks";
import type { Server } from "../server";
import { Download } from "./finish";
import type { TabProps } from "./tabs";

export function LeaveView({ state, server, open }: TabProps): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/teaching"), "place");
  if (!value) return <LoadingOrError problem={problem} retry={retry} message="Loading…" />;
  const { answered } = state;
  return (
    <div class="leave">
      <h1>{answered > 0 ? "Your answers are saved" : "You have not answered a question yet"}</h1>
      <p>
        {answered > 0 ? `${pluralize(answered, "answer")} so far, stored in ` : "Answers will be stored in "}
        <code>{value.stored_in}</code>. You can close this page now.
      </p>
      <ComeBack place={value} />
      {answered > 0 && <RewardFile server={server} />}
      <div class="row">
        <button type="button" class="button primary" onClick={() => open("compare")}>
          Continue answering
        </button>
        {value.by_link && <SignOut onClick={() => void server.post("/api/leave", {}).then(() => location.assign("/"))} />}
      </div>
    </div>
  );
}

function RewardFile({ server }: { server: Server }): JSX.Element {
  return (
    <Card title="What you taught">
      <p>
        <code>reward.json</code> is the reward that was learned from your answers: a function that gives every trajectory a number,
        higher is better, with its uncertainty. Python reads it with <code>prefero.load_reward("reward.json")</code>.
      </p>
      <Download server={server} path="/api/export/reward.json" label="The reward" />
    </Card>
  );
}

function ComeBack({ place: { command, by_link } }: { place: TeachingPlace }): JSX.Element {
  return (
    <Card title="How to come back">
      <p>
        While the command in the terminal runs, {by_link ? "open your link again" : "open this page again"}. Ctrl+C in that terminal
        stops it. Later this command continues where you stopped:
      </p>
      <pre>
        <code>{command}</code>
      </pre>
    </Card>
  );
}

function SignOut({ onClick }: { onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="button" onClick={onClick}>
      Sign out of this browser
    </button>
  );
}
