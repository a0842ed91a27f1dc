import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Display } from "../src/api";
import { Server } from "../src/server";
import { FetchCache, Trajectories } from "../src/trajectories";
import { fakeFetch, NETWORK_ERROR } from "./fakes";

const texts = { task_description: "Decide.", subject: "" };
const FEATURES: Display = { ...texts, kind: "features", no_video: "", features: [{ name: "speed", unit: "m/s", levels: [], ordered: true, low: 0, high: 2 }] };
const REPLAY = { body: { features: { speed: 1 } } };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("trajectories", () => {
  it("polls what may come next until the server knows, and fetches it once", async () => {
    const { fetcher, calls } = fakeFetch(
      { body: { trajectories: [4], complete: false } },
      REPLAY,
      { body: { trajectories: [4, 5], complete: true } },
      REPLAY,
    );
    const trajectories = new Trajectories(new Server(undefined, fetcher), FEATURES);
    void trajectories.prefetchNext(() => false);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(calls.map(({ path }) => path)).toEqual(["/api/session/prefetch", "/api/trajectories/4", "/api/session/prefetch", "/api/trajectories/5"]);
    expect([trajectories.peek(4), trajectories.peek(5)]).not.toContain(undefined);
  });

  it("stops polling once the question is answered", async () => {
    const { fetcher, calls } = fakeFetch({ body: { trajectories: [], complete: false } });
    void new Trajectories(new Server(undefined, fetcher), FEATURES).prefetchNext(() => calls.length > 0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(calls.length).toBe(1);
  });

  it("ignores that nothing could be prefetched", async () => {
    const { fetcher } = fakeFetch(NETWORK_ERROR);
    const looked = new Trajectories(new Server(undefined, fetcher), FEATURES).prefetchNext(() => false);
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(looked).resolves.toBeUndefined();
  });

  it("have the aspect ratio of their display", () => {
    const shape = (display: Display): number => new Trajectories(new Server(), display).aspectOf([0, 1]);
    const scene = { format: 1, frame_time: 0.1, background: "#ffffff", main_part: null, parts: [] };
    const camera = { kind: "camera", eye: [0, 0, 1], target: [0, 0, 0], fov: 40 } as const;
    const window = { kind: "window", left: 0, right: 3, bottom: 0, top: 2, follow: null } as const;
    expect(shape({ ...texts, kind: "clips", features: [] })).toBeCloseTo(4 / 3);
    expect(shape({ ...texts, kind: "scene", features: [], seconds: 1, scene: { ...scene, dimensions: 3, view: { ...camera, eye: [0, 0, 1], target: [0, 0, 0] } } })).toBe(1.5);
    expect(shape({ ...texts, kind: "scene", features: [], seconds: 1, scene: { ...scene, dimensions: 2, view: window } })).toBe(1.5);
    expect(shape({ ...texts, kind: "scene", features: [], seconds: 1, scene: { ...scene, dimensions: 2, view: { ...window, right: 99 } } })).toBe(1.8);
  });
});

describe("a fetch cache", () => {
  it("fetches each value once", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(`replay ${index}`));
    const replays = new FetchCache(fetch);
    replays.prefetch([1, 2]);
    expect(await Promise.all([replays.get(1), replays.get(1), replays.get(2)])).toEqual(["replay 1", "replay 1", "replay 2"]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it("has a value without waiting once it is loaded", async () => {
    const replays = new FetchCache((index) => Promise.resolve(index));
    expect(replays.peek(7)).toBeUndefined();
    await replays.get(7);
    expect(replays.peek(7)).toBe(7);
  });

  it("fetches again after a failure", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(index)).mockRejectedValueOnce(new Error("away"));
    const replays = new FetchCache(fetch);
    replays.prefetch([1]);
    await expect(replays.get(1)).rejects.toThrow("away");
    expect(await replays.get(1)).toBe(1);
  });

  it("evicts the least recently used", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(index));
    const replays = new FetchCache(fetch, 2);
    await replays.get(1);
    await replays.get(2);
    await replays.get(1);
    await replays.get(3);
    expect([1, 2, 3].map((index) => replays.peek(index))).toEqual([1, undefined, 3]);
  });
});
