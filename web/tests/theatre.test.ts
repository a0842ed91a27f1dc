import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Showing } from "../src/contract";
import { Server } from "../src/server";
import { Theatre } from "../src/theatre";
import { GONE, scripted } from "./fakes";

const FEATURES: Showing = { kind: "features", features: [{ name: "speed", unit: "m/s", low: 0, high: 2 }] };
const REPLAY = { body: { features: { speed: 1 } } };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the theatre", () => {
  it("asks what may come next until the server knows, and fetches it once", async () => {
    const { reach, calls } = scripted(
      { body: { ahead: [4], ready: false } },
      REPLAY,
      { body: { ahead: [4, 5], ready: true } },
      REPLAY,
    );
    const theatre = new Theatre(new Server(undefined, reach), FEATURES);
    void theatre.prepare(() => false);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(calls.map(({ path }) => path)).toEqual(["/api/ahead", "/api/replays/4", "/api/ahead", "/api/replays/5"]);
    expect([theatre.ready(4), theatre.ready(5)]).not.toContain(undefined);
  });

  it("asks no more once the answer is given", async () => {
    const { reach, calls } = scripted({ body: { ahead: [], ready: false } });
    void new Theatre(new Server(undefined, reach), FEATURES).prepare(() => calls.length > 0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(calls.length).toBe(1);
  });

  it("is not disturbed when it cannot look ahead", async () => {
    const { reach } = scripted(GONE);
    const looked = new Theatre(new Server(undefined, reach), FEATURES).prepare(() => false);
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(looked).resolves.toBeUndefined();
  });

  it("gives screens the shape of what they show", () => {
    const shape = (showing: Showing): number => new Theatre(new Server(), showing).aspect;
    const scene = { format: 1, frame: 0.1, background: "#ffffff", parts: [] };
    const camera = { kind: "camera", eye: [0, 0, 1], target: [0, 0, 0], angle: 40 } as const;
    const window = { kind: "window", left: 0, right: 3, bottom: 0, top: 2, follow: null } as const;
    expect(shape({ kind: "clips" })).toBeCloseTo(4 / 3);
    expect(shape({ kind: "scene", seconds: 1, scene: { ...scene, dimensions: 3, view: { ...camera, eye: [0, 0, 1], target: [0, 0, 0] } } })).toBe(1.5);
    expect(shape({ kind: "scene", seconds: 1, scene: { ...scene, dimensions: 2, view: window } })).toBe(1.5);
    expect(shape({ kind: "scene", seconds: 1, scene: { ...scene, dimensions: 2, view: { ...window, right: 99 } } })).toBe(1.8);
  });
});
