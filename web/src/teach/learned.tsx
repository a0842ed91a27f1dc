/** What was learned so far, and from which answers. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Estimate, FeatureEffect, FeatureMap, HistoryChange, LearningSummary, PastAnswer } from "../api";
import { Banner, Card, LoadingOrError } from "../components";
import { formatPercent, pluralize } from "../format";
import { type Loaded, useLoad } from "../hooks";
import type { Server } from "../server";
import type { Session } from "../session";
import type { Trajectories } from "../trajectories";
import { Acceptable } from "./acceptable";
import { Chart } from "./chart";
import type { Axes } from "./charts";
import { EndClips } from "./ends";
import { History } from "./history";
import { Known } from "./known";
import { WithJumpMenu } from "./jump-menu";
import { Plays } from "./plays";
import { QuestionMapCard } from "./question-map";
import { AnswerRemarks } from "./remarks";
import { Ranking } from "./ranking";
import { RewardEnds } from "./reward-ends";
import { Sampled } from "./sampled";
import { Meaning, Statements } from "./statements";
import { Surprises } from "./surprises";
import type { TabProps } from "./tabs";
import { WhatIfCard } from "./what-if";

type Change = (question: number, change: HistoryChange["kind"]) => void;

export function LearnedView({ session, state, trajectories, server, open }: TabProps): JSX.Element {
  const { answered } = state;
  const summary = useLoad(() => server.get("/api/learning-summary"), answered);
  const history = useLoad(() => server.get("/api/history"), answered);
  const past = history.value?.answers ?? [];
  const blocked = session.blocked.value;
  const [noted, setNoted] = useState<PastAnswer | null>(null);
  const closeNote = (): void => {
    setNoted(null);
    history.retry();
  };
  const onChange = changeHistory(session, () => open("compare"), [history.retry, summary.retry]);
  return (
    <WithJumpMenu>
      <h1>What it learned</h1>
      {answered === 0 ? (
        <>
          <Empty onCompare={() => open("compare")} />
          {summary.value && summary.value.known.length > 0 && <Known known={summary.value.known} />}
        </>
      ) : (
        <Summary summary={summary} history={past} trajectories={trajectories} server={server} blocked={blocked} onChange={onChange} />
      )}
      {past.length > 0 && (
        <Card title="Your answers">
          <History answers={past} trajectories={trajectories} blocked={blocked} onChange={onChange} onNote={setNoted} />
        </Card>
      )}
      {history.problem && <Banner message={history.problem} retry={history.retry} />}
      {noted && <AnswerRemarks answer={noted} session={session} server={server} onClose={closeNote} />}
    </WithJumpMenu>
  );
}

/** An answer that is undone is asked again, so the page goes where it can be answered. */
function changeHistory(session: Session, compare: () => void, reloads: (() => void)[]): Change {
  return (question, change) =>
    void session.change(question, change).then(() => {
      if (change === "undo") compare();
      else for (const reload of reloads) reload();
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

interface SummaryProps {
  summary: Loaded<LearningSummary>;
  history: PastAnswer[];
  trajectories: Trajectories;
  server: Server;
  blocked: boolean;
  onChange: Change;
}

function Summary({ summary: loaded, history, trajectories, server, blocked, onChange }: SummaryProps): JSX.Element {
  const summary = loaded.value;
  if (!summary) return <LoadingOrError {...loaded} message="Computing what was learned…" />;
  const features = [...summary.features].sort((a, b) => (b.effect?.mean ?? 0) - (a.effect?.mean ?? 0));
  const sampled = new Sampled(summary.sample, features);
  const shown = { summary, features, sampled, history, trajectories };
  return (
    <Plays history={history} sampled={sampled} trajectories={trajectories}>
      {loaded.problem && <Banner message={loaded.problem} retry={loaded.retry} />}
      {summary.accuracy ? <Accuracy {...shown} /> : <TooEarly summary={summary} />}
      {summary.known.length > 0 && <Known known={summary.known} />}
      {features.length > 0 && (
        <>
          <WhatMatters summary={summary} features={features} />
          {trajectories.display.kind !== "features" && <RewardEnds best={summary.ranking} worst={summary.worst} trajectories={trajectories} />}
          <Surprises surprises={summary.surprises} history={history} trajectories={trajectories} blocked={blocked} onChange={onChange} />
          <ByFeatures {...shown} server={server} />
        </>
      )}
      <QuestionMapCard summary={summary} sampled={sampled} />
    </Plays>
  );
}

interface ShownProps {
  summary: LearningSummary;
  features: FeatureEffect[]; // the most important first
  sampled: Sampled;
  history: PastAnswer[];
  trajectories: Trajectories;
}

/** How the reward depends on the features, and what that means for trajectories. */
function ByFeatures({ summary, features, sampled, trajectories, server }: ShownProps & { server: Server }): JSX.Element {
  const { ranking, worst, acceptable, feature_maps: maps } = summary;
  return (
    <>
      {acceptable && <Acceptable acceptable={acceptable} features={features} trajectories={trajectories} />}
      <Curves features={features} bar={acceptable?.bar} sampled={sampled} trajectories={trajectories} />
      <WhatIfCard features={features} ranked={[...ranking, ...worst]} answers={summary.answers} server={server} />
      {maps.length > 0 && <FeatureMaps summary={summary} sampled={sampled} />}
      {ranking.length > 0 && <Ranking ranked={ranking} features={features} trajectories={trajectories} />}
    </>
  );
}

function TooEarly({ summary }: { summary: LearningSummary }): JSX.Element {
  const missing = summary.enough_answers - summary.answers;
  return (
    <Card title="It is too early to say">
      <p>
        After {pluralize(summary.answers, "answer")}, a number would be more of a guess than of what was learned.{" "}
        {pluralize(missing, "more answer")}, and you will see here how well your answers can be predicted, and what
        your reward seems to be.
      </p>
    </Card>
  );
}

function Accuracy({ summary, history }: Pick<ShownProps, "summary" | "history">): JSX.Element {
  const given = history.filter(({ deleted }) => !deleted);
  const { accuracy, learning_curve: points } = summary;
  if (!accuracy) return <></>;
  return (
    <Card title="How well your answers can be predicted">
      <div class="accuracy">
        <p class="big-number">{formatPercent(accuracy.mean)}</p>
        <div>
          <Meaning of={`Probably between ${formatPercent(accuracy.low)} and ${formatPercent(accuracy.high)}`}>
            This is the fraction of your answers that it expects to predict, if you were asked about random pairs of
            trajectories and had to choose one of each. Half would be right by chance, and everybody’s own
            inconsistency keeps it below 100%. Nine of ten such ranges held for simulated users, careful and careless
            ones, whose rewards were of many kinds.
          </Meaning>
          <p>{summary.hint}</p>
        </div>
      </div>
      {points.length > 1 && (
        <Chart plays name="Expected accuracy after each answer" draw={(charts, width) => charts.accuracy(points, accuracy, width, given)} />
      )}
    </Card>
  );
}

function WhatMatters({ summary, features }: { summary: LearningSummary; features: FeatureEffect[] }): JSX.Element {
  const left = features.filter(({ effect }) => effect === null).length;
  return (
    <Card title="What matters">
      <Statements statements={summary.statements} />
      <Chart name="How much each feature matters" draw={(charts, width) => charts.effects(features, width)} />
      <p class="soft">
        How much the reward varies when one feature alone varies as it does over all trajectories, as a fraction of the sum
        over all features. The thin line is a 90% interval.
        {left > 0 && ` The other ${left} features, which seem to matter less, are left out.`}
      </p>
    </Card>
  );
}

const SHOWN_AT_FIRST = 6;

interface CurvesProps {
  features: FeatureEffect[];
  bar: Estimate | undefined; // what is just acceptable, if an answer said what is
  sampled: Sampled;
  trajectories: Trajectories;
}

function Curves({ features, bar, sampled, trajectories }: CurvesProps): JSX.Element {
  const [unfolded, setUnfolded] = useState(false);
  const more = features.slice(SHOWN_AT_FIRST);
  return (
    <Card title="How the reward depends on each feature">
      <p class="soft">
        0 is the reward of the average trajectory, and 1 is one standard deviation of the reward over all trajectories.
        All other features are at their mean. The band is one standard deviation of the uncertainty to each side.
        {bar && " The dashed line is what is just acceptable."} The dots are trajectories: click anywhere to play the
        one that is nearest in this feature.
        {features.some(({ ends }) => ends) && " Below a component are the trajectories in which it is lowest and highest."}
      </p>
      <CurveGrid features={features.slice(0, SHOWN_AT_FIRST)} bar={bar} sampled={sampled} trajectories={trajectories} />
      {more.length > 0 && (
        <details class="fold" onToggle={(event) => setUnfolded(event.currentTarget.open)}>
          <summary>{pluralize(more.length, "more feature")}, which matter less</summary>
          {unfolded && <CurveGrid features={more} bar={bar} sampled={sampled} trajectories={trajectories} />}
        </details>
      )}
    </Card>
  );
}

function CurveGrid({ features, bar, sampled, trajectories }: CurvesProps): JSX.Element {
  return (
    <div class="chart-grid">
      {features.map((feature) => (
        <figure key={feature.name}>
          <figcaption>{feature.name}</figcaption>
          <Chart plays name={`The reward by ${feature.name}`} draw={(charts, width) => charts.curve(feature, width, bar, sampled)} />
          {feature.ends && <EndClips name={feature.name} ends={feature.ends} trajectories={trajectories} />}
        </figure>
      ))}
    </div>
  );
}

const KINDS = { mean: "Reward", std: "Uncertainty" } as const;

/** For one pair of features both maps are shown; for many a switch selects which. */
function FeatureMaps({ summary, sampled }: { summary: LearningSummary; sampled: Sampled }): JSX.Element {
  const [shown, setShown] = useState<"mean" | "std">("mean");
  const axes = Object.fromEntries(summary.features.map((feature) => [feature.name, feature]));
  const bar = summary.acceptable?.bar;
  const [single] = summary.feature_maps.length === 1 ? summary.feature_maps : [];
  return (
    <Card title="How the reward depends on two features">
      <p class="soft">
        In the same unit: standard deviations above the average trajectory.
        {bar && " The dashed line is what is just acceptable."} The dots are trajectories: click anywhere to play the
        nearest one.
      </p>
      {!single && (
        <div class="switch" role="group" aria-label="What the maps show">
          <Option on={shown === "mean"} label={KINDS.mean} onClick={() => setShown("mean")} />
          <Option on={shown === "std"} label={KINDS.std} onClick={() => setShown("std")} />
        </div>
      )}
      <div class="chart-grid">
        {single && <RewardMap map={single} shown="mean" axes={axes} bar={bar} sampled={sampled} />}
        {single && <RewardMap map={single} shown="std" axes={axes} bar={bar} sampled={sampled} />}
        {!single && summary.feature_maps.map((map) => <RewardMap key={`${map.x} ${map.y}`} map={map} shown={shown} axes={axes} bar={bar} sampled={sampled} />)}
      </div>
    </Card>
  );
}

interface MapProps {
  map: FeatureMap;
  shown: "mean" | "std";
  axes: Axes;
  bar: Estimate | undefined;
  sampled: Sampled;
}

function RewardMap({ map, shown, axes, bar, sampled }: MapProps): JSX.Element {
  const name = `${KINDS[shown]} by ${map.x} and ${map.y}`;
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <Chart plays name={name} draw={(charts, width) => charts.map(map, shown, axes, width, bar, sampled)} />
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
