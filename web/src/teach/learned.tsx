/** What was learned so far, and from which answers. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FeatureEffect, FeatureMap, LearningSummary, RankedTrajectory } from "../api";
import { Banner, Card, LoadingOrError, TrajectoryName } from "../components";
import { formatNumber, formatPercent, formatWithUnit } from "../format";
import { type Loaded, useLoad } from "../hooks";
import { Player } from "../player/player";
import type { Session } from "../session";
import type { Trajectories } from "../trajectories";
import { Chart } from "./chart";
import { History } from "./history";
import type { TabProps } from "./tabs";

export function LearnedView({ session, state, trajectories, server, open }: TabProps): JSX.Element {
  const { answered } = state;
  const summary = useLoad(() => server.get("/api/learning-summary"), answered);
  const history = useLoad(() => server.get("/api/history"), answered);
  const past = history.value?.answers ?? [];
  return (
    <>
      <h1>What it learned</h1>
      {answered === 0 ? <Empty onCompare={() => open("compare")} /> : <Summary summary={summary} trajectories={trajectories} />}
      {past.length > 0 && (
        <Card title="Your answers">
          <History answers={past} trajectories={trajectories} blocked={session.blocked.value} onChange={changeAndReload(session, history.retry, summary.retry)} />
        </Card>
      )}
      {history.problem && <Banner message={history.problem} retry={history.retry} />}
    </>
  );
}

function changeAndReload(session: Session, ...reloads: (() => void)[]): (question: number, change: "delete" | "restore") => void {
  return (question, change) =>
    void session.change(question, change).then(() => {
      for (const reload of reloads) reload();
    });
}

function Empty({ onCompare }: { onCompare: () => void }): JSX.Element {
  return (
    <Card>
      <p class="empty">
        Nothing yet. After your first answers you will see here how well your answers can be predicted, how the reward
        depends on each feature, and which trajectories have the highest reward.
      </p>
      <button type="button" class="button primary" onClick={onCompare}>
        Answer the first question
      </button>
    </Card>
  );
}

function Summary({ summary: loaded, trajectories }: { summary: Loaded<LearningSummary>; trajectories: Trajectories }): JSX.Element {
  const summary = loaded.value;
  if (!summary) return <LoadingOrError {...loaded} message="Computing what was learned…" />;
  return (
    <>
      {loaded.problem && <Banner message={loaded.problem} retry={loaded.retry} />}
      <Accuracy summary={summary} />
      <Card title="What matters">
        <p>{summary.description}</p>
        <Chart name="How much each feature matters" draw={(charts, width) => charts.effects(summary.features, width)} />
      </Card>
      <Card title="How the reward depends on each feature">
        <p class="soft">The line is the learned reward; the band around it shows the uncertainty.</p>
        <div class="chart-grid">
          {summary.features.map((feature) => (
            <Curve key={feature.name} feature={feature} />
          ))}
        </div>
      </Card>
      {summary.feature_maps.length > 0 && <FeatureMaps summary={summary} />}
      <Ranking ranked={summary.ranking} features={summary.features} trajectories={trajectories} />
    </>
  );
}

function Accuracy({ summary }: { summary: LearningSummary }): JSX.Element {
  return (
    <Card title="How well your answers can be predicted">
      <div class="accuracy">
        <p class="big-number">{formatPercent(summary.accuracy)}</p>
        <div>
          <p>expected accuracy on further questions</p>
          <p>{summary.hint}</p>
        </div>
      </div>
      <Chart name="Expected accuracy after each answer" draw={(charts, width) => charts.accuracy(summary.learning_curve, width)} />
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

/** For one pair of features both maps are shown; for many a switch selects which. */
function FeatureMaps({ summary }: { summary: LearningSummary }): JSX.Element {
  const [shown, setShown] = useState<"mean" | "std">("mean");
  const units = Object.fromEntries(summary.features.map(({ name, unit }) => [name, unit]));
  const [single] = summary.feature_maps.length === 1 ? summary.feature_maps : [];
  return (
    <Card title="How the reward depends on two features">
      {!single && (
        <div class="switch" role="group" aria-label="What the maps show">
          <Option on={shown === "mean"} label={KINDS.mean} onClick={() => setShown("mean")} />
          <Option on={shown === "std"} label={KINDS.std} onClick={() => setShown("std")} />
        </div>
      )}
      <div class="chart-grid">
        {single && <RewardMap map={single} shown="mean" units={units} />}
        {single && <RewardMap map={single} shown="std" units={units} />}
        {!single && summary.feature_maps.map((map) => <RewardMap key={`${map.x} ${map.y}`} map={map} shown={shown} units={units} />)}
      </div>
    </Card>
  );
}

interface MapProps {
  map: FeatureMap;
  shown: "mean" | "std";
  units: Record<string, string>;
}

function RewardMap({ map, shown, units }: MapProps): JSX.Element {
  const name = `${KINDS[shown]} by ${map.x} and ${map.y}`;
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <Chart name={name} draw={(charts, width) => charts.map(map, shown, units, width)} />
    </figure>
  );
}

function Option({ on, label, onClick }: { on: boolean; label: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="option" aria-pressed={on} onClick={onClick}>
      {label}
    </button>
  );
}

interface RankingProps {
  ranked: RankedTrajectory[];
  features: FeatureEffect[];
  trajectories: Trajectories;
}

function Ranking({ ranked, features, trajectories }: RankingProps): JSX.Element {
  const [selected, setSelected] = useState(ranked[0]?.index);
  const playing = ranked.find(({ index }) => index === selected) ?? ranked[0];
  return (
    <Card title="The trajectories with the highest reward">
      <div class="ranking">
        {playing && <Player trajectories={trajectories} index={playing.index} name={`The trajectory of rank ${playing.rank}`} />}
        <ol class="ranks">
          {ranked.map((one) => (
            <li key={one.index}>
              <button type="button" class="rank" aria-pressed={one === playing} onClick={() => setSelected(one.index)}>
                <span class="rank-number">{one.rank}</span>
                <span>
                  <TrajectoryName index={one.index} id={one.id} />
                  <FeatureValues of={one} features={features} />
                </span>
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

/** A line may break between features, not within one. */
function FeatureValues({ of, features }: { of: RankedTrajectory; features: FeatureEffect[] }): JSX.Element {
  const texts = features.map(({ name, unit }) => `${name} ${formatWithUnit(of.features[name], unit)}`);
  return (
    <span class="rank-features">
      {texts.map((text, i) => (
        <span key={i}>{i < texts.length - 1 ? `${text}, ` : text}</span>
      ))}
    </span>
  );
}
