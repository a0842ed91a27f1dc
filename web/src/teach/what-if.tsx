/** "What if": the learned reward at a place that a person sets with sliders, and the trajectory that is nearest to it. */

import type { JSX } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import type { FeatureEffect, RankedTrajectory, WhatIf } from "../api";
import { Card, LoadingOrError, TrajectoryName } from "../components";
import { formatFeature, formatPercent, formatReward, pluralize } from "../format";
import type { Server } from "../server";
import { Latest } from "./latest";
import { PlayContext } from "./plays";

const SHOWN_AT_FIRST = 6;
const STEPS = 200; // of a slider

/** A trajectory, or the average one, of which some values were changed. */
interface Place {
  start: number | null;
  values: Record<string, number>;
}

const AVERAGE: Place = { start: null, values: {} };

interface WhatIfProps {
  features: FeatureEffect[]; // the most important first
  ranked: RankedTrajectory[]; // where it can start, beside the average trajectory
  answers: number; // with another number of them the reward is another one
  server: Server;
}

export function WhatIfCard({ features, ranked, answers, server }: WhatIfProps): JSX.Element {
  const [place, setPlace] = useState<Place>(AVERAGE);
  const { found, problem, retry } = useReward(server, place, answers);
  const more = features.slice(SHOWN_AT_FIRST);
  const [unfolded, setUnfolded] = useState(false);
  const set = (name: string, value: number): void => setPlace(({ start, values }) => ({ start, values: { ...values, [name]: value } }));
  const sliders = (some: FeatureEffect[]): JSX.Element[] =>
    some.map((feature) => <Control key={feature.name} feature={feature} value={place.values[feature.name] ?? found?.values[feature.name]} onChange={(value) => set(feature.name, value)} />);
  return (
    <Card title="What if">
      <p class="soft">Move the sliders, and see what the reward would be. It need not be a trajectory that there is.</p>
      <div class="what-if">
        <div class="what-if-controls">
          <Start place={place} ranked={ranked} onStart={(start) => setPlace({ start, values: {} })} />
          {sliders(features.slice(0, SHOWN_AT_FIRST))}
          {more.length > 0 && (
            <details class="fold" onToggle={(event) => setUnfolded(event.currentTarget.open)}>
              <summary>{pluralize(more.length, "more feature")}, which matter less</summary>
              {unfolded && sliders(more)}
            </details>
          )}
        </div>
        <div class="what-if-result">
          {found ? <Result found={found} features={features} onStart={(start) => setPlace({ start, values: {} })} /> : <LoadingOrError problem={problem} retry={retry} message="Computing the reward…" />}
          {found && problem && <LoadingOrError problem={problem} retry={retry} message="" />}
        </div>
      </div>
    </Card>
  );
}

interface Reward {
  found: WhatIf | null;
  problem: string;
  retry: () => void;
}

/** Computed by the server, which has the learner; while a slider moves, as often as it answers. */
function useReward(server: Server, place: Place, answers: number): Reward {
  const [found, setFound] = useState<WhatIf | null>(null);
  const [problem, setProblem] = useState("");
  const latest = useRef<Latest<Place, WhatIf> | null>(null);
  useEffect(() => {
    const receive = (answer: WhatIf): void => {
      setFound(answer);
      setProblem("");
    };
    const fail = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));
    const requests = new Latest((asked: Place) => server.post("/api/what-if", asked), receive, fail);
    latest.current = requests;
    return () => requests.close();
  }, [server]);
  useEffect(() => latest.current?.ask(place), [place, answers]);
  return { found, problem, retry: () => latest.current?.ask(place) };
}

interface StartProps {
  place: Place;
  ranked: RankedTrajectory[];
  onStart: (start: number | null) => void;
}

function Start({ place, ranked, onStart }: StartProps): JSX.Element {
  const { start, values } = place;
  const known = start === null || ranked.some(({ index }) => index === start);
  return (
    <div class="what-if-start">
      <label class="axis">
        Start at{" "}
        <select value={start ?? ""} onChange={({ currentTarget: { value } }) => onStart(value === "" ? null : Number(value))}>
          <option value="">the average trajectory</option>
          {!known && <option value={start}>no. {start}</option>}
          {ranked.map(({ index, id, rank }) => (
            <option key={index} value={index}>
              rank {rank}: {id ?? `no. ${index}`}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="button" disabled={Object.keys(values).length === 0} onClick={() => onStart(start)}>
        Reset
      </button>
    </div>
  );
}

interface ControlProps {
  feature: FeatureEffect;
  value: number | undefined; // until the server has said where it starts
  onChange: (value: number) => void;
}

/** A slider from the lowest to the highest value in the pool; a choice for a category. */
function Control({ feature, value, onChange }: ControlProps): JSX.Element {
  const { name, levels, curve } = feature;
  const [low, high] = [curve[0]?.x ?? 0, curve.at(-1)?.x ?? 1];
  const text = formatFeature(feature, value);
  return (
    <label class="what-if-slider">
      <span>{name}</span>
      {levels.length > 0 ? (
        <select value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
          {levels.map((level, place) => (
            <option key={level} value={place}>
              {level}
            </option>
          ))}
        </select>
      ) : (
        <>
          <output>{text}</output>
          <input type="range" aria-label={name} min={low} max={high} step={(high - low) / STEPS || 1} value={value ?? (low + high) / 2} aria-valuetext={text} onInput={(event) => onChange(Number(event.currentTarget.value))} />
        </>
      )}
    </label>
  );
}

interface ResultProps {
  found: WhatIf;
  features: FeatureEffect[];
  onStart: (start: number) => void;
}

function Result({ found, features, onStart }: ResultProps): JSX.Element {
  const { better_than: better, nearest, far } = found;
  const play = useContext(PlayContext);
  const { index, id } = nearest;
  return (
    <>
      <div aria-live="polite">
        <p class="big-number">{formatPercent(better.mean)}</p>
        <p>
          of the trajectories have a lower reward; probably between {formatPercent(better.low)} and {formatPercent(better.high)}.
        </p>
        <Scale {...better} />
        <p>Reward {formatReward(found)} standard deviations above the average trajectory.</p>
        {far && <p class="what-if-far">No trajectory is like this one, so this is a guess: nothing like it was ever judged.</p>}
      </div>
      <p>
        The nearest is <TrajectoryName index={index} id={id} />, reward {formatReward(nearest)}:{" "}
        <span class="soft">{features.slice(0, 4).map((one) => `${one.name} ${formatFeature(one, nearest.values[one.name])}`).join(", ")}</span>
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => play({ trajectory: index })}>
          Play the nearest
        </button>
        <button type="button" class="button" onClick={() => onStart(index)}>
          Start there
        </button>
      </div>
    </>
  );
}

/** From the worst to the best trajectory of the pool: where this place is, and how sure that is. */
function Scale({ mean, low, high }: { mean: number; low: number; high: number }): JSX.Element {
  const at = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
  return (
    <div class="what-if-scale" aria-hidden="true">
      <div class="what-if-range" style={{ left: at(low), width: at(high - low) }} />
      <div class="what-if-mark" style={{ left: at(mean) }} />
    </div>
  );
}
