/** When the two trajectories of a teacher's question differ most: by their signals, else by where their main parts are. */

import { useEffect, useState } from "preact/hooks";

import type { TrajectorySignals } from "../api";
import { formatNumber, formatWithUnit } from "../format";
import { pathOf } from "../player/poses";
import type { Moment } from "../player/timeline";
import { movingPart } from "../player/viewport";
import type { Signals } from "../signals";
import type { Trajectory } from "../trajectories";
import { comparedSignals, valueAt } from "./compared-signals";

const PATIENCE = 600; // milliseconds until signals are fetched: first the clips

/** Of the signal that differs most, the moment at which it does. */
export function signalMoment(items: TrajectorySignals[]): Moment | null {
  const [most] = comparedSignals(items);
  if (!most || most.difference === 0) return null;
  const { name, unit, at, curves } = most;
  const [a, b] = curves.map((curve) => valueAt(curve, at));
  const values = `A ${formatWithUnit(a, unit)}, B ${formatWithUnit(b, unit)}`;
  return { time: at, text: `A and B differ most at ${formatNumber(at)} s, in ${name}: ${values}` };
}

/** When the main parts of two replays in one scene are farthest apart, while both move. */
export function poseMoment(items: Trajectory[]): Moment | null {
  const [a, b] = items;
  if (a?.kind !== "scene" || b?.kind !== "scene") return null;
  const main = Math.max(movingPart(a.scene, a.scene.main_part), 0);
  const [path, other] = [pathOf(a.replay, main), pathOf(b.replay, main)];
  const axes = a.scene.dimensions;
  const apart = path.slice(0, other.length).map((pose, i) => Math.hypot(...pose.slice(0, axes).map((value, k) => value - (other[i]?.[k] ?? 0))));
  const most = Math.max(0, ...apart);
  if (most === 0) return null;
  const time = apart.indexOf(most) * a.replay.frame_time;
  return { time, text: `A and B are farthest apart at ${formatNumber(time)} s` };
}

/** Nothing for participants and judges, who have no `signals`: it would tell them what the robot's features are. */
export function useMoment(signals: Signals | null, indices: number[], items: Trajectory[] | null): Moment | null {
  const key = indices.join();
  const [found, setFound] = useState<{ key: string; moment: Moment | null } | null>(null);
  useEffect(() => {
    if (!signals || !items || indices.length !== 2) return undefined;
    let left = false;
    const find = async (): Promise<void> => {
      const moment = signalMoment(await signals.load(indices).catch(() => [])) ?? poseMoment(items);
      if (!left) setFound({ key, moment });
    };
    const timer = setTimeout(() => void find(), signals.peek(indices) ? 0 : PATIENCE);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [signals, key, items]);
  return signals && found?.key === key ? found.moment : null;
}
