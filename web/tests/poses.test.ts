import { describe, expect, it } from "vitest";

import type { Pose, Replay } from "../src/api";
import { arrivalTime, interpolate, keyTimes, pathUntil, posesAt, replayDuration } from "../src/player/poses";

const replay = (...poses: Pose[]): Replay => ({ format: 1, frame_time: 0.5, poses: poses.map((pose) => [pose]) });
const about = (angle: number, sign = 1): Pose => [0, 0, 0, sign * Math.cos(angle / 2), 0, 0, sign * Math.sin(angle / 2)];

/** The rotation about z of a unit quaternion. */
const rotationOf = (pose: Pose): number => 2 * Math.atan2(pose[6] ?? 0, pose[3] ?? 0);

describe("poses in 2D", () => {
  const moves = replay([0, 0, 0], [1, 2, 1], [3, 2, 1]);

  it("are the recorded ones at the frames", () => {
    expect(posesAt(moves, 0)).toEqual([[0, 0, 0]]);
    expect(posesAt(moves, 0.5)).toEqual([[1, 2, 1]]);
    expect(posesAt(moves, 1)).toEqual([[3, 2, 1]]);
  });

  it("are interpolated at other times", () => {
    expect(posesAt(moves, 0.25)[0]).toEqual([0.5, 1, 0.5]);
    expect(posesAt(moves, 0.75)[0]).toEqual([2, 2, 1]);
  });

  it("are clamped before the start and after the end", () => {
    expect(posesAt(moves, -1)).toEqual([[0, 0, 0]]);
    expect(posesAt(moves, 99)).toEqual([[3, 2, 1]]);
  });

  it("rotate past a full turn, as recorded, and never the short way back", () => {
    expect(interpolate([0, 0, 3], [0, 0, 3.4], 0.5)[2]).toBeCloseTo(3.2);
    expect(interpolate([0, 0, 6], [0, 0, 7], 0.5)[2]).toBeCloseTo(6.5);
  });

  it("of a single frame do not move", () => {
    expect(posesAt(replay([1, 2, 3]), 7)).toEqual([[1, 2, 3]]);
    expect(replayDuration(replay([1, 2, 3]))).toBe(0);
  });
});

describe("poses in 3D", () => {
  it("keep unit quaternions", () => {
    for (const fraction of [0, 0.2, 0.5, 0.9, 1]) {
      expect(Math.hypot(...interpolate(about(0.3), about(2.4), fraction).slice(3))).toBeCloseTo(1, 12);
    }
  });

  it("are rotated by half the angle half way", () => {
    expect(rotationOf(interpolate(about(0.2), about(1), 0.5))).toBeCloseTo(0.6, 10);
  });

  it("rotate the short way, whichever sign the quaternion has", () => {
    const plain = interpolate(about(0.2), about(0.8), 0.3);
    const flipped = interpolate(about(0.2), about(0.8, -1), 0.3);
    expect(flipped).toEqual(plain.map((value) => expect.closeTo(value, 12) as number));
  });

  it("move in a straight line while they rotate", () => {
    const from = [0, 0, 0, 1, 0, 0, 0];
    const to = [2, 4, 6, 0, 1, 0, 0];
    expect(interpolate(from, to, 0.25).slice(0, 3)).toEqual([0.5, 1, 1.5]);
  });
});

describe("key times", () => {
  it("are evenly spaced, with the start and the end", () => {
    expect(keyTimes(replay([0, 0, 0], [0, 0, 0], [0, 0, 0]), 3)).toEqual([0, 0.5, 1]);
  });
});

describe("the path of a part", () => {
  const rolls = replay([0, 0, 0], [2, 0, 0], [3, 0, 1], [3.001, 0, 2], [3, 0, 3]);

  it("goes up to where the part is", () => {
    expect(pathUntil(rolls, 0, 0)).toEqual([[0, 0, 0], [0, 0, 0]]);
    expect(pathUntil(rolls, 0, 0.75)).toEqual([[0, 0, 0], [2, 0, 0], [2.5, 0, 0.5]]);
  });

  it("ends where the part stops, though it may still turn", () => {
    expect(arrivalTime(rolls, 0)).toBe(1);
    expect(arrivalTime(replay([0, 0, 0], [1, 0, 0], [2, 0, 0]), 0)).toBe(1);
    expect(arrivalTime(replay([0, 0, 0], [0, 0, 0]), 0)).toBe(0.5);
  });
});
