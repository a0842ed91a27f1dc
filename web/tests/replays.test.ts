import { describe, expect, it, vi } from "vitest";

import { Replays } from "../src/replays";

describe("replays", () => {
  it("are fetched once, however often and early they are asked for", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(`replay ${index}`));
    const replays = new Replays(fetch);
    replays.prefetch([1, 2]);
    expect(await Promise.all([replays.get(1), replays.get(1), replays.get(2)])).toEqual(["replay 1", "replay 1", "replay 2"]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it("can be shown without waiting once they are here", async () => {
    const replays = new Replays((index) => Promise.resolve(index));
    expect(replays.ready(7)).toBeUndefined();
    await replays.get(7);
    expect(replays.ready(7)).toBe(7);
  });

  it("are asked for again after a failure", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(index)).mockRejectedValueOnce(new Error("away"));
    const replays = new Replays(fetch);
    replays.prefetch([1]);
    await expect(replays.get(1)).rejects.toThrow("away");
    expect(await replays.get(1)).toBe(1);
  });

  it("that were not used for longest are forgotten", async () => {
    const fetch = vi.fn((index: number) => Promise.resolve(index));
    const replays = new Replays(fetch, 2);
    await replays.get(1);
    await replays.get(2);
    await replays.get(1);
    await replays.get(3);
    expect([1, 2, 3].map((index) => replays.ready(index))).toEqual([1, undefined, 3]);
  });
});
