/** Where parts are between two frames. Screens are faster than recordings, and slow motion shows every jump. */

import type { Point, Pose, Replay } from "../contract";

const FLAT = 3;

/** Seconds from the first frame to the last. */
export function replayDuration(replay: Replay): number {
  return Math.max(replay.poses.length - 1, 0) * replay.frame_time;
}

/** The poses of all moving parts at a time; before the start and after the end they rest. */
export function posesAt(replay: Replay, time: number): Pose[] {
  const last = replay.poses.length - 1;
  const place = Math.min(Math.max(time / replay.frame_time, 0), last);
  const before = Math.min(Math.floor(place), Math.max(last - 1, 0));
  const from = replay.poses[before] ?? [];
  const to = replay.poses[before + 1] ?? from;
  return from.map((pose, part) => interpolate(pose, to[part] ?? pose, place - before));
}

/** A pose `share` of the way; flat angles go on past a full turn, so they need no unwinding. */
export function interpolate(from: Pose, to: Pose, share: number): Pose {
  if (from.length === FLAT) return lerp(from, to, share);
  return [...lerp(from.slice(0, 3), to.slice(0, 3), share), ...nlerp(from.slice(3), to.slice(3), share)];
}

function lerp(from: number[], to: number[], share: number): number[] {
  return from.map((value, i) => (1 - share) * value + share * (to[i] ?? value));
}

/** q and -q turn alike: go to the nearer of them, and back onto the unit sphere. */
function nlerp(from: number[], to: number[], share: number): number[] {
  const together = from.reduce((sum, value, i) => sum + value * (to[i] ?? 0), 0);
  const middle = lerp(from, together < 0 ? to.map((value) => -value) : to, share);
  const length = Math.hypot(...middle) || 1;
  return middle.map((value) => value / length);
}

/** The way that a moving part takes, as points of its first two or three numbers. */
export function pathOf(replay: Replay, part: number): Pose[] {
  return replay.poses.flatMap((poses) => (poses[part] ? [poses[part]] : []));
}

/** The times at which a still picture shows a motion: `count` of them, evenly, the end among them. */
export function keyTimes(replay: Replay, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (replayDuration(replay) * i) / Math.max(count - 1, 1));
}

/** The smallest box around points: [[left, bottom], [right, top]]. */
export function boundingBox(points: readonly (readonly number[])[]): [Point, Point] {
  const xs = points.map((point) => point[0] ?? 0);
  const ys = points.map((point) => point[1] ?? 0);
  return [
    [Math.min(...xs), Math.min(...ys)],
    [Math.max(...xs), Math.max(...ys)],
  ];
}
