/** Poses interpolated between frames: screens are faster than recordings, and slow motion would show every jump. */

import type { Pose, Replay } from "../api";

const LENGTH_2D = 3; // x, y, angle
const REST = 0.005; // a part has arrived when it is nearer to its last position than this fraction of its path

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

/** The positions of one moving part from the start to a time. */
export function pathUntil(replay: Replay, part: number, time: number): Pose[] {
  const past = pathOf(replay, part).slice(0, Math.max(Math.floor(time / replay.frame_time), 0) + 1);
  const now = posesAt(replay, time)[part];
  return now ? [...past, now] : past;
}

/** The time from which on a moving part stays where it ends. */
export function arrivalTime(replay: Replay, part: number): number {
  const path = pathOf(replay, part).map((pose) => (pose.length === LENGTH_2D ? pose.slice(0, 2) : pose.slice(0, 3)));
  const last = path.at(-1) ?? [];
  const length = path.reduce((sum, place, i) => sum + distance(place, path[i - 1] ?? place), 0);
  const away = path.findLastIndex((place) => distance(place, last) > REST * length);
  return away < 0 ? replayDuration(replay) : (away + 1) * replay.frame_time;
}

function distance(a: number[], b: number[]): number {
  return Math.hypot(...a.map((value, i) => value - (b[i] ?? 0)));
}

/** `count` evenly spaced times from the start to the end, for a still image. */
export function keyTimes(replay: Replay, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (replayDuration(replay) * i) / Math.max(count - 1, 1));
}
