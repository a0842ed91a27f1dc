/**
 * Two trajectories' signals side by side, those that differ most first.
 *
 *     seconds      how long the longer trajectory lasts
 *     low, high    of both curves: their charts have one scale
 *     difference   the root mean square of the distance between the curves, as a fraction of `high - low`: from 0 to 1
 *     at           when they are farthest apart, in seconds
 *
 * Curves are compared while both trajectories move. A signal that has one value throughout, in both, is left out.
 */

import type { Signal, TrajectorySignals } from "../api";

const SAMPLES = 120; // times at which two curves are compared
const ROUNDING = 1e-6; // a range below this fraction of the values is that of their rounding

export interface ComparedSignal {
  name: string;
  unit: string;
  curves: [Signal, Signal];
  low: number;
  high: number;
  difference: number;
  at: number;
}

export function comparedSignals([a, b]: TrajectorySignals[]): ComparedSignal[] {
  const others = new Map(b?.signals.map((one) => [one.name, one]));
  const pairs = (a?.signals ?? []).flatMap((one): [Signal, Signal][] => {
    const other = others.get(one.name);
    return other ? [[one, other]] : [];
  });
  return pairs.map(compared).filter(varies).sort((one, other) => other.difference - one.difference);
}

function compared(curves: [Signal, Signal]): ComparedSignal {
  const [{ name, unit }] = curves;
  const values = curves.flatMap((curve) => curve.values);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { meanSquare, at } = distance(curves);
  return { name, unit, curves, low, high, at, difference: Math.sqrt(meanSquare) / (high - low || 1) };
}

function varies({ low, high }: ComparedSignal): boolean {
  return high - low > ROUNDING * Math.max(Math.abs(low), Math.abs(high));
}

function distance([a, b]: [Signal, Signal]): { meanSquare: number; at: number } {
  const end = Math.min(endOf(a), endOf(b));
  const times = Array.from({ length: SAMPLES }, (_, i) => (end * i) / (SAMPLES - 1));
  const apart = times.map((time) => Math.abs(valueAt(a, time) - valueAt(b, time)));
  const meanSquare = apart.reduce((sum, one) => sum + one ** 2, 0) / SAMPLES;
  return { meanSquare, at: times[apart.indexOf(Math.max(...apart))] ?? 0 };
}

export function endOf({ times }: Signal): number {
  return times.at(-1) ?? 0;
}

/** How long the longest of these trajectories lasts. */
export function secondsOf(items: TrajectorySignals[]): number {
  return Math.max(0, ...items.flatMap(({ signals }) => signals.map(endOf)));
}

/** The value at a time, between two known ones on the line from one to the other; before and after them the nearest. */
export function valueAt({ times, values }: Signal, time: number): number {
  const next = firstAfter(times, time);
  const [start, end] = [times[next - 1], times[next]];
  const [before, after] = [values[next - 1] ?? 0, values[next] ?? 0];
  if (start === undefined) return after;
  return end === undefined ? before : before + ((after - before) * (time - start)) / (end - start);
}

/** The place of the first time after this one; their number if there is none. */
function firstAfter(times: number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
