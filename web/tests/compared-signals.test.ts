import { describe, expect, it } from "vitest";

import type { Signal, TrajectorySignals } from "../src/api";
import { comparedSignals, secondsOf, valueAt } from "../src/compare/compared-signals";

const TIMES = Array.from({ length: 101 }, (_, i) => i / 10);
const curve = (name: string, f: (time: number) => number, times = TIMES): Signal => ({ name, unit: "", times, values: times.map(f) });
const together = (...signals: Signal[]): TrajectorySignals => ({ signals, deviations: {}, left_out: 0, ranges: [], values: {} });

describe("compared signals", () => {
  it("are ordered by the root mean square of their difference, as a fraction of the scale", () => {
    const a = together(curve("same", Math.sin), curve("little", (t) => t), curve("much", (t) => t));
    const b = together(curve("same", Math.sin), curve("little", (t) => t + 1), curve("much", (t) => 10 - t));
    const found = comparedSignals([a, b]);
    expect(found.map(({ name }) => name)).toEqual(["much", "little", "same"]);
    expect(found.map(({ low, high }) => [low, high])[0]).toEqual([0, 10]);
    expect(found[0]?.difference).toBeCloseTo(Math.sqrt(1 / 3), 1); // of 2 t - 10 over 0 to 10, by 10
    expect(found[1]?.difference).toBeCloseTo(1 / 11);
    expect(found[2]?.difference).toBe(0);
  });

  it("say when they are farthest apart", () => {
    const bump = (time: number): number => Math.exp(-((time - 7) ** 2));
    const [found] = comparedSignals([together(curve("x", () => 0)), together(curve("x", bump))]);
    expect(found?.at).toBeCloseTo(7, 1);
  });

  it("are compared while both trajectories move", () => {
    const [early, late] = [TIMES.slice(0, 51), TIMES];
    const [found] = comparedSignals([together(curve("x", (t) => t, early)), together(curve("x", (t) => t, late))]);
    expect([found?.difference, found?.high]).toEqual([0, 10]);
    expect(secondsOf([together(curve("x", (t) => t, early)), together(curve("x", (t) => t, late))])).toBe(10);
  });

  it("are left out where they have one value throughout, apart from rounding", () => {
    const found = comparedSignals([together(curve("x", () => 1), curve("y", () => 1)), together(curve("x", () => 1 + 1e-9), curve("y", () => 2))]);
    expect(found.map(({ name, difference }) => [name, difference])).toEqual([["y", 1]]);
  });

  it("are those that both have", () => {
    const found = comparedSignals([together(curve("x", Math.sin), curve("y", Math.sin)), together(curve("z", Math.sin), curve("y", Math.cos))]);
    expect(found.map(({ name }) => name)).toEqual(["y"]);
    expect(comparedSignals([together(), together()])).toEqual([]);
  });
});

describe("a value at a time", () => {
  const signal: Signal = { name: "x", unit: "", times: [0, 1, 3], values: [10, 20, 0] };

  it.each([
    [-1, 10],
    [0, 10],
    [0.5, 15],
    [1, 20],
    [2, 10],
    [3, 0],
    [9, 0],
  ])("%d s is %d", (time, value) => expect(valueAt(signal, time)).toBe(value));

  it("of a single value is that value", () => expect(valueAt({ ...signal, times: [0], values: [4] }, 2)).toBe(4));
});
