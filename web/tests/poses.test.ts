import { describe, expect, it } from "vitest";

import type { Pose, Replay } from "../src/contract";
import { interpolate, keyTimes, posesAt, replayDuration } from "../src/player/poses";

const replay = (...poses: Pose[]): Replay => ({ format: 1, frame_time: 0.5, poses: poses.map((pose) => [pose]) });
const about = (turn: number, sign = 1): Pose => [0, 0, 0, sign * Math.cos(turn / 2), 0, 0, sign * Math.sin(turn / 2)];

/** The turn about z of a unit quaternion. */
const turnOf = (pose: Pose): number => 2 * Math.atan2(pose[6] ?? 0, pose[3] ?? 0);

describe("flat poses", () => {
  const moves = replay([0, 0, 0], [1, 2, 1], [3, 2, 1]);

  it("are the recorded ones at the frames", () => {
    expect(posesAt(moves, 0)).toEqual([[0, 0, 0]]);
    expect(posesAt(moves, 0.5)).toEqual([[1, 2, 1]]);
    expect(posesAt(moves, 1)).toEqual([[3, 2, 1]]);
  });

  it("lie between them at other times", () => {
    expect(posesAt(moves, 0.25)[0]).toEqual([0.5, 1, 0.5]);
    expect(posesAt(moves, 0.75)[0]).toEqual([2, 2, 1]);
  });

  it("rest before the start and after the end", () => {
    expect(posesAt(moves, -1)).toEqual([[0, 0, 0]]);
    expect(posesAt(moves, 99)).toEqual([[3, 2, 1]]);
  });

  it("turn on past a full turn, as recorded, and never the short way back", () => {
    expect(interpolate([0, 0, 3], [0, 0, 3.4], 0.5)[2]).toBeCloseTo(3.2);
    expect(interpolate([0, 0, 6], [0, 0, 7], 0.5)[2]).toBeCloseTo(6.5);
  });

  it("of a single frame just stand", () => {
    expect(posesAt(replay([1, 2, 3]), 7)).toEqual([[1, 2, 3]]);
    expect(replayDuration(replay([1, 2, 3]))).toBe(0);
  });
});

describe("solid poses", () => {
  it("keep unit quaternions", () => {
    for (const share of [0, 0.2, 0.5, 0.9, 1]) {
      expect(Math.hypot(...interpolate(about(0.3), about(2.4), share).slice(3))).toBeCloseTo(1, 12);
    }
  });

  it("are half turned half way", () => {
    expect(turnOf(interpolate(about(0.2), about(1), 0.5))).toBeCloseTo(0.6, 10);
  });

  it("turn the short way, whichever sign the quaternion has", () => {
    const plain = interpolate(about(0.2), about(0.8), 0.3);
    const flipped = interpolate(about(0.2), about(0.8, -1), 0.3);
    expect(flipped).toEqual(plain.map((value) => expect.closeTo(value, 12) as number));
  });

  it("move straight while they turn", () => {
    const from = [0, 0, 0, 1, 0, 0, 0];
    const to = [2, 4, 6, 0, 1, 0, 0];
    expect(interpolate(from, to, 0.25).slice(0, 3)).toEqual([0.5, 1, 1.5]);
  });
});

describe("a still picture of a motion", () => {
  it("shows it at even times, the start and the end among them", () => {
    expect(keyTimes(replay([0, 0, 0], [0, 0, 0], [0, 0, 0]), 3)).toEqual([0, 0.5, 1]);
  });
});
