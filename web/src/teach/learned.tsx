/** What the robot learned so far, and from which answers. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Player } from "../asking/player";
import type { FeatureEffect, FeaturePair, Insight, PastAnswer, Ranked, Sitting } from "../contract";
import type { Desk } from "../desk";
import { asPercent, figure, withUnit } from "../figures";
import { type Loaded, useLoad } from "../hooks";
import { Banner, Card, Missing } from "../parts";
import type { Server } from "../server";
import type { Theatre } from "../theatre";
import { Chart } from "./chart";
import { History } from "./history";
import type { View } from "./views";

interface LearnedProps {
  desk: Desk;
  sitting: Sitting;
  theatre: Theatre;
  server: Server;
  go: (view: View) => void;
}

export function Learned({ desk, sitting, theatre, server, go }: LearnedProps): JSX.Element {
  const { done } = sitting;
  const insight = useLoad(() => server.get<Insight>("/api/insight"), done);
  const history = useLoad(() => server.get<{ answers: PastAnswer[] }>("/api/history"), done);
  const past = history.value?.answers ?? [];
  return (
    <>
      <h1>What it learned</h1>
      {done === 0 ? <Empty onCompare={() => go("compare")} /> : <Findings insight={insight} theatre={theatre} />}
      {past.length > 0 && (
        <Card title="Your answers">
          <History answers={past} blocked={desk.blocked.value} onChange={changeWith(desk, history.again, insight.again)} />
        </Card>
      )}
      {history.trouble && <Banner words={history.trouble} again={history.again} />}
    </>
  );
}

function changeWith(desk: Desk, ...refresh: (() => void)[]): (question: number, change: "delete" | "restore") => void {
  return (question, change) =>
    void desk.change(question, change).then(() => {
      for (const again of refresh) again();
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

function Findings({ insight: loaded, theatre }: { insight: Loaded<Insight>; theatre: Theatre }): JSX.Element {
  const insight = loaded.value;
  if (!insight) return <Missing {...loaded} words="Working out what was learned…" />;
  return (
    <>
      {loaded.trouble && <Banner words={loaded.trouble} again={loaded.again} />}
      <Accuracy insight={insight} />
      <Card title="What matters">
        <p>{insight.looks}</p>
        <Chart name="How much each feature matters" draw={(charts, width) => charts.effects(insight.features, width)} />
      </Card>
      <Card title="How each feature counts">
        <p class="soft">The line is the learned reward. The wider the band around it, the less is known yet.</p>
        <div class="chart-grid">
          {insight.features.map((feature) => (
            <Curve key={feature.name} feature={feature} />
          ))}
        </div>
      </Card>
      {insight.pairs.length > 0 && <Maps insight={insight} />}
      <Ranking ranked={insight.ranked} features={insight.features} theatre={theatre} />
    </>
  );
}

function Accuracy({ insight }: { insight: Insight }): JSX.Element {
  return (
    <Card title="How well your wishes are known">
      <div class="accuracy">
        <p class="big-figure">{asPercent(insight.accuracy)}</p>
        <div>
          <p>of your next choices would be foreseen, as far as it can tell.</p>
          <p>{insight.hint}</p>
        </div>
      </div>
      <Chart name="Expected accuracy after each answer" draw={(charts, width) => charts.accuracy(insight.accuracies, width)} />
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
function Maps({ insight }: { insight: Insight }): JSX.Element {
  const [what, setWhat] = useState<"mean" | "std">("mean");
  const units = Object.fromEntries(insight.features.map(({ name, unit }) => [name, unit]));
  const [only] = insight.pairs.length === 1 ? insight.pairs : [];
  return (
    <Card title="Features together">
      {!only && (
        <div class="switch" role="group" aria-label="What the maps show">
          <Option on={what === "mean"} words={KINDS.mean} onClick={() => setWhat("mean")} />
          <Option on={what === "std"} words={KINDS.std} onClick={() => setWhat("std")} />
        </div>
      )}
      <div class="chart-grid">
        {only && <PairMap pair={only} what="mean" units={units} />}
        {only && <PairMap pair={only} what="std" units={units} />}
        {!only && insight.pairs.map((pair) => <PairMap key={`${pair.x} ${pair.y}`} pair={pair} what={what} units={units} />)}
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

function Option({ on, words, onClick }: { on: boolean; words: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="option" aria-pressed={on} onClick={onClick}>
      {words}
    </button>
  );
}

interface RankingProps {
  ranked: Ranked[];
  features: FeatureEffect[];
  theatre: Theatre;
}

function Ranking({ ranked, features, theatre }: RankingProps): JSX.Element {
  const [picked, setPicked] = useState(ranked[0]?.index);
  const playing = ranked.find(({ index }) => index === picked) ?? ranked[0];
  return (
    <Card title="The motions you would like best">
      <div class="ranking">
        {playing && <Player theatre={theatre} index={playing.index} name={`The motion of rank ${playing.rank}`} />}
        <ol class="ranks">
          {ranked.map((one) => (
            <li key={one.index}>
              <button type="button" class="rank" aria-pressed={one === playing} onClick={() => setPicked(one.index)}>
                <span class="rank-number">{one.rank}</span>
                <span class="rank-features">{featureWords(one, features)}</span>
                <span class="rank-reward">
                  {figure(one.mean)} <span class="soft">± {figure(one.std)}</span>
                </span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

function featureWords(one: Ranked, features: FeatureEffect[]): string {
  return features.map(({ name, unit }) => `${name} ${withUnit(one.features[name], unit)}`).join(", ");
}
