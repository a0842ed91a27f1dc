/** Charts of two trajectories' signals below their clips: in step with them, and those that differ most first. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { Signal, TrajectorySignals } from "../api";
import { Banner } from "../components";
import { formatNumber, formatWithUnit, pluralize } from "../format";
import { useLoad } from "../hooks";
import { keepFocus } from "../player/controls";
import type { Playback, Shown } from "../player/playback";
import type { Signals } from "../signals";
import { type ComparedSignal, comparedSignals, endOf, secondsOf, valueAt } from "./compared-signals";
import { FeatureTable } from "./feature-table";
import { itemLabel } from "./layout";

const MOST_SHOWN = 4;
const [WIDTH, HEIGHT] = [1000, 100]; // of a chart, in its own units: it is stretched to its box

interface PanelProps {
  signals: Signals;
  indices: number[];
  playback: Playback;
}

export function SignalPanel({ signals, indices, playback }: PanelProps): JSX.Element {
  const key = indices.join();
  const { value, problem, retry } = useLoad(async () => ({ key, items: await signals.load(indices) }), key);
  const items = value?.key === key ? value.items : signals.peek(indices);
  return (
    <section class="signals" aria-label="Signals over time" aria-busy={items === null}>
      {problem && <Banner message={problem} retry={retry} />}
      {items ? <Charts key={key} items={items} playback={playback} /> : <div class="signal-grid signal-grid-empty" />}
    </section>
  );
}

function Charts({ items, playback }: { items: TrajectorySignals[]; playback: Playback }): JSX.Element {
  const all = useMemo(() => comparedSignals(items), [items]);
  const seconds = secondsOf(items);
  const [shown, others] = [all.slice(0, MOST_SHOWN), all.slice(MOST_SHOWN)];
  const leftOut = Math.max(...items.map((item) => item.left_out));
  return (
    <>
      <Grid compared={shown} seconds={seconds} playback={playback} />
      <div class="signal-folds">
        {others.length > 0 && (
          <details class="folded">
            <summary>{pluralize(others.length, "more signal")}</summary>
            <Grid compared={others} seconds={seconds} playback={playback} />
            {leftOut > 0 && <p class="soft">{pluralize(leftOut, "further signal")} of these trajectories cannot be shown here.</p>}
          </details>
        )}
        <FeatureValues items={items} />
      </div>
    </>
  );
}

/** The features of both, in the person's units. */
function FeatureValues({ items }: { items: TrajectorySignals[] }): JSX.Element | null {
  const [ranges] = items.map((item) => item.ranges);
  if (!ranges || ranges.length === 0) return null;
  return (
    <details class="folded">
      <summary>Features of both</summary>
      <ComparedFeatures items={items} />
    </details>
  );
}

/** A table of them: how far they are apart, in standard deviations too. */
export function ComparedFeatures({ items }: { items: TrajectorySignals[] }): JSX.Element | null {
  const [first] = items;
  if (!first) return null;
  return <FeatureTable items={items.map(({ values }) => ({ kind: "features", features: first.ranges, values }))} deviations={first.deviations} />;
}

interface GridProps {
  compared: ComparedSignal[];
  seconds: number;
  playback: Playback;
}

/** Below each clip two charts in a row; on a phone the charts of a signal are beside each other. */
function Grid({ compared, ...rest }: GridProps): JSX.Element {
  return (
    <div class="signal-grid">
      {compared.map((one, place) =>
        one.curves.map((_, item) => <Chart key={`${one.name} ${item}`} compared={one} place={place} item={item} {...rest} />),
      )}
    </div>
  );
}

interface ChartProps extends Omit<GridProps, "compared"> {
  compared: ComparedSignal;
  place: number;
  item: number; // 0 or 1
}

/** The curve of one trajectory in front of the other's, with the difference between them as an area. */
function Chart({ compared, place, item, seconds, playback }: ChartProps): JSX.Element {
  const { name, unit, low, high, curves } = compared;
  const [own, other] = item === 0 ? curves : [curves[1], curves[0]];
  const { cursor, readout } = useCursor(playback, own, seconds);
  const seek = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    playback.seek((seconds * (event.clientX - box.left)) / box.width);
  };
  const cell = { "--item": item, "--place": place, "--across": place % 2, "--down": Math.floor(place / 2) };
  return (
    <div class={`signal signal-${item}`} style={cell}>
      <div class="signal-caption" aria-hidden="true">
        <strong>{itemLabel(item)}</strong>
        <span class="signal-name" title={name}>
          {name} <span class="soft">{unit}</span>
        </span>
        <output ref={readout} />
      </div>
      <div class="signal-chart" role="img" aria-label={chartLabel(compared, item)} onClick={seek} onMouseDown={keepFocus}>
        <Curves own={own} other={other} compared={compared} seconds={seconds} />
        <span class="signal-high">{formatNumber(high)}</span>
        <span class="signal-low">{formatNumber(low)}</span>
        <span class="signal-cursor" ref={cursor} />
      </div>
    </div>
  );
}

interface CurvesProps {
  own: Signal;
  other: Signal;
  compared: ComparedSignal;
  seconds: number;
}

/** Both curves, the area between them while both last, and a line where they are farthest apart. */
function Curves({ own, other, compared, seconds }: CurvesProps): JSX.Element {
  const { low, high, at, difference } = compared;
  const x = (time: number): number => (seconds > 0 ? (WIDTH * time) / seconds : 0);
  const y = (value: number): number => (HEIGHT * (high - value)) / (high - low);
  const toPoints = ({ times, values }: Signal): string[] => times.map((time, i) => `${x(time).toFixed(1)},${y(values[i] ?? low).toFixed(1)}`);
  const end = Math.min(endOf(own), endOf(other));
  const area = [...toPoints(until(own, end)), ...toPoints(until(other, end)).toReversed()];
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon class="signal-apart" points={area.join(" ")} />
      <polyline class="signal-other" points={toPoints(other).join(" ")} />
      <polyline class="signal-own" points={toPoints(own).join(" ")} />
      {difference > 0 && <line class="signal-farthest" x1={x(at)} x2={x(at)} y1={y(valueAt(own, at))} y2={y(valueAt(other, at))} />}
    </svg>
  );
}

/** A curve up to a time. */
function until(curve: Signal, end: number): Signal {
  const count = curve.times.filter((time) => time < end).length;
  return { ...curve, times: [...curve.times.slice(0, count), end], values: [...curve.values.slice(0, count), valueAt(curve, end)] };
}

/** For screen readers: from where to where, and the largest difference. */
function chartLabel({ name, unit, curves, at, difference }: ComparedSignal, item: number): string {
  const own = curves[item];
  if (!own) return name;
  const range = `from ${formatNumber(Math.min(...own.values))} to ${formatWithUnit(Math.max(...own.values), unit)}`;
  const [a, b] = curves.map((curve) => formatNumber(valueAt(curve, at)));
  const apart = difference > 0 ? `; farthest apart at ${formatWithUnit(at, "s")}: A ${a ?? ""}, B ${b ?? ""}` : "; the same in both";
  return `${name} of ${itemLabel(item)}, ${range}${apart}`;
}

interface Cursor {
  cursor: { current: HTMLSpanElement | null };
  readout: { current: HTMLOutputElement | null };
}

/** A line at the time of the clips, and the value there. */
function useCursor(playback: Playback, own: Signal, seconds: number): Cursor {
  const cursor = useRef<HTMLSpanElement>(null);
  const readout = useRef<HTMLOutputElement>(null);
  useEffect(() => {
    const show = ({ time }: Shown): void => {
      if (cursor.current) cursor.current.style.left = `${(100 * Math.min(time / seconds, 1)).toFixed(2)}%`;
      if (readout.current) readout.current.value = formatNumber(valueAt(own, time));
    };
    return playback.add({ seconds: () => 0, ready: () => true, show });
  }, [playback, own, seconds]);
  return { cursor, readout };
}
