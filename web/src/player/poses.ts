/** Poses interpolated between frames: screens are faster than recordings, and slow motion would show every jump. */

import type { Point, Pose, Replay } from "../api";

const LENGTH_2D = 3; // x, y, angle

/** Seconds from the first frame to the last. */
export function replayDuration(replay: Replay): number {
  return Math.max(replay.poses.length - 1, 0) * replay.frame_time;
}

/** The poses of all moving parts at a time, clamped to the start and the end. */
export function posesAt(replay: Replay, time: number): Pose[] {
  const last = replay.poses.length - 1;
  const position = Math.min(Math.max(time / replay.frame_time, 0), last);
  const before = Math.min(Math.floor(position), Math.max(last - 1, 0));
  const from = replay.poses[before] ?? [];
  const to = replay.poses[before + 1] ?? from;
  return from.map((pose, part) => interpolate(pose, to[part] ?? pose, position - before));
}

/** A pose a `fraction` of the way. Angles in 2D are recorded without wrapping at a full turn, so they need no unwrapping. */
export function interpolate(from: Pose, to: Pose, fraction: number): Pose {
  if (from.length === LENGTH_2D) return lerp(from, to, fraction);
  return [...lerp(from.slice(0, 3), to.slice(0, 3), fraction), ...nlerp(from.slice(3), to.slice(3), fraction)];
}

function lerp(from: number[], to: number[], fraction: number): number[] {
  return from.map((value, i) => (1 - fraction) * value + fraction * (to[i] ?? value));
}

/** Normalized linear interpolation of quaternions. q and -q are the same rotation: take the nearer one. */
function nlerp(from: number[], to: number[], fraction: number): number[] {
  const dot = from.reduce((sum, value, i) => sum + value * (to[i] ?? 0), 0);
  const mixed = lerp(from, dot < 0 ? to.map((value) => -value) : to, fraction);
  const length = Math.hypot(...mixed) || 1;
  return mixed.map((value) => value / length);
}

/** The poses of one moving part over time. */
export function pathOf(replay: Replay, part: number): Pose[] {
  return replay.poses.flatMap((poses) => (poses[part] ? [poses[part]] : []));
}

/** `count` evenly spaced times from the start to the end, for a still image. */
export function keyTimes(replay: Replay, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (replayDuration(replay) * i) / Math.max(count - 1, 1));
}

/** The bounding box of points: [[left, bottom], [right, top]]. */
export function boundingBox(points: readonly (readonly number[])[]): [Point, Point] {
  const xs = points.map((point) => point[0] ?? 0);
  const ys = points.map((point) => point[1] ?? 0);
  return [
    [Math.min(...xs), Math.min(...ys)],
    [Math.max(...xs), Math.max(...ys)],
  ];
}
