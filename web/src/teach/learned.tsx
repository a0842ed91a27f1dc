/** What the robot learned so far, and from which answers. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Player } from "../player/player";
import type { FeatureEffect, FeaturePair, LearningSummary, PastAnswer, Ranked, SessionState } from "../contract";
import type { Session } from "../session";
import { formatPercent, formatNumber, formatWithUnit } from "../format";
import { type Loaded, useLoad } from "../hooks";
import { Banner, Card, LoadingOrError } from "../components";
import type { Server } from "../server";
import type { Trajectories } from "../trajectories";
import { Chart } from "./chart";
import { History } from "./history";
import type { View } from "./views";

interface LearnedProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
  server: Server;
  go: (view: View) => void;
}

export function LearnedView({ session, state, trajectories, server, go }: LearnedProps): JSX.Element {
  const { done } = state;
  const summary = useLoad(() => server.get<LearningSummary>("/api/insight"), done);
  const history = useLoad(() => server.get<{ answers: PastAnswer[] }>("/api/history"), done);
  const past = history.value?.answers ?? [];
  return (
    <>
      <h1>What it learned</h1>
      {done === 0 ? <Empty onCompare={() => go("compare")} /> : <Findings summary={summary} trajectories={trajectories} />}
      {past.length > 0 && (
        <Card title="Your answers">
          <History answers={past} blocked={session.blocked.value} onChange={changeAndReload(session, history.retry, summary.retry)} />
        </Card>
      )}
      {history.problem && <Banner message={history.problem} retry={history.retry} />}
    </>
  );
}

function changeAndReload(session: Session, ...refresh: (() => void)[]): (question: number, change: "delete" | "restore") => void {
  return (question, change) =>
    void session.change(question, change).then(() => {
      for (const retry of refresh) retry();
    });
}

function Empty({ onCompare }: { onCompare: () => void }): JSX.Element {
  return (
    <Card>
      <p class="empty">
        Nothing yet. As soon as you have compared some pairs, you will see here how well your wishes are known, what
        matters to you and how, and which motions you would like best.
      </p>
      <button type="button" class="button primary" onClick={onCompare}>
        Compare the first pair
      </button>
    </Card>
  );
}

function Findings({ summary: loaded, trajectories }: { summary: Loaded<LearningSummary>; trajectories: Trajectories }): JSX.Element {
  const summary = loaded.value;
  if (!summary) return <LoadingOrError {...loaded} message="Working out what was learned…" />;
  return (
    <>
      {loaded.problem && <Banner message={loaded.problem} retry={loaded.retry} />}
      <Accuracy summary={summary} />
      <Card title="What matters">
        <p>{summary.looks}</p>
        <Chart name="How much each feature matters" draw={(charts, width) => charts.effects(summary.features, width)} />
      </Card>
      <Card title="How each feature counts">
        <p class="soft">The line is the learned reward. The wider the band around it, the less is known yet.</p>
        <div class="chart-grid">
          {summary.features.map((feature) => (
            <Curve key={feature.name} feature={feature} />
          ))}
        </div>
      </Card>
      {summary.pairs.length > 0 && <Maps summary={summary} />}
      <Ranking ranked={summary.ranked} features={summary.features} trajectories={trajectories} />
    </>
  );
}

function Accuracy({ summary }: { summary: LearningSummary }): JSX.Element {
  return (
    <Card title="How well your wishes are known">
      <div class="accuracy">
        <p class="big-figure">{formatPercent(summary.accuracy)}</p>
        <div>
          <p>of your next choices would be foreseen, as far as it can tell.</p>
          <p>{summary.hint}</p>
        </div>
      </div>
      <Chart name="Expected accuracy after each answer" draw={(charts, width) => charts.accuracy(summary.accuracies, width)} />
    </Card>
  );
}

function Curve({ feature }: { feature: FeatureEffect }): JSX.Element {
  return (
    <figure>
      <figcaption>{feature.name}</figcaption>
      <Chart name={`The reward by ${feature.name}`} draw={(charts, width) => charts.curve(feature, width)} />
    </figure>
  );
}

const KINDS = { mean: "Reward", std: "Uncertainty" } as const;

/** One pair has room for both maps; many share a switch. */
function Maps({ summary }: { summary: LearningSummary }): JSX.Element {
  const [what, setWhat] = useState<"mean" | "std">("mean");
  const units = Object.fromEntries(summary.features.map(({ name, unit }) => [name, unit]));
  const [only] = summary.pairs.length === 1 ? summary.pairs : [];
  return (
    <Card title="Features together">
      {!only && (
        <div class="switch" role="group" aria-label="What the maps show">
          <Option on={what === "mean"} message={KINDS.mean} onClick={() => setWhat("mean")} />
          <Option on={what === "std"} message={KINDS.std} onClick={() => setWhat("std")} />
        </div>
      )}
      <div class="chart-grid">
        {only && <PairMap pair={only} what="mean" units={units} />}
        {only && <PairMap pair={only} what="std" units={units} />}
        {!only && summary.pairs.map((pair) => <PairMap key={`${pair.x} ${pair.y}`} pair={pair} what={what} units={units} />)}
      </div>
    </Card>
  );
}

interface MapProps {
  pair: FeaturePair;
  what: "mean" | "std";
  units: Record<string, string>;
}

function PairMap({ pair, what, units }: MapProps): JSX.Element {
  const name = `${KINDS[what]} by ${pair.x} and ${pair.y}`;
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <Chart name={name} draw={(charts, width) => charts.map(pair, what, units, width)} />
    </figure>
  );
}

function Option({ on, message, onClick }: { on: boolean; message: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="option" aria-pressed={on} onClick={onClick}>
      {message}
    </button>
  );
}

interface RankingProps {
  ranked: Ranked[];
  features: FeatureEffect[];
  trajectories: Trajectories;
}

function Ranking({ ranked, features, trajectories }: RankingProps): JSX.Element {
  const [picked, setPicked] = useState(ranked[0]?.index);
  const playing = ranked.find(({ index }) => index === picked) ?? ranked[0];
  return (
    <Card title="The motions you would like best">
      <div class="ranking">
        {playing && <Player trajectories={trajectories} index={playing.index} name={`The motion of rank ${playing.rank}`} />}
        <ol class="ranks">
          {ranked.map((one) => (
            <li key={one.index}>
              <button type="button" class="rank" aria-pressed={one === playing} onClick={() => setPicked(one.index)}>
                <span class="rank-number">{one.rank}</span>
                <span class="rank-features">{featureText(one, features)}</span>
                <span class="rank-reward">
                  {formatNumber(one.mean)} <span class="soft">± {formatNumber(one.std)}</span>
                </span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

function featureText(one: Ranked, features: FeatureEffect[]): string {
  return features.map(({ name, unit }) => `${name} ${formatWithUnit(one.features[name], unit)}`).join(", ");
}
