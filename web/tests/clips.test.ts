import { describe, expect, it, vi } from "vitest";

import { ClipCache, clipDuration, isReady, type SharedClock, synchronize, type VideoState } from "../src/player/clips";
import { Clock } from "../src/player/clock";

function video(changes: Partial<VideoState> = {}): VideoState {
  return {
    currentTime: 0,
    duration: 2,
    error: null,
    paused: true,
    playbackRate: 1,
    readyState: 4,
    seeking: false,
    play: vi.fn(() => Promise.resolve()),
    pause: vi.fn(),
    ...changes,
  };
}

function at(time: number, changes: Partial<Clock> = {}, waiting = false): SharedClock {
  const clock = Object.assign(new Clock(2), changes);
  return { time, clock, waiting };
}

describe("a clip", () => {
  it("plays by itself while it is near the clock's time", () => {
    const clip = video({ currentTime: 0.95 });
    synchronize(clip, at(1));
    expect(clip.currentTime).toBe(0.95);
    expect(clip.play).toHaveBeenCalledOnce();
  });

  it("is corrected when it drifts", () => {
    const clip = video({ currentTime: 0.5 });
    synchronize(clip, at(1));
    expect(clip.currentTime).toBe(1);
  });

  it("shows the exact frame while paused", () => {
    const clip = video({ currentTime: 0.95, paused: false });
    synchronize(clip, at(1, { playing: false }));
    expect(clip.currentTime).toBe(1);
    expect(clip.pause).toHaveBeenCalledOnce();
  });

  it("has the clock's speed", () => {
    const clip = video();
    synchronize(clip, at(0, { speed: 0.25 }));
    expect(clip.playbackRate).toBe(0.25);
  });

  it("stays at its end while a longer one plays", () => {
    const clip = video({ currentTime: 2, paused: false });
    synchronize(clip, at(3));
    expect(clip.pause).toHaveBeenCalledOnce();
    expect(clip.play).not.toHaveBeenCalled();
  });

  it("stays where it is while the clock waits for another, unless it has not loaded itself", () => {
    const loaded = video({ currentTime: 0.05, paused: false });
    synchronize(loaded, at(0, {}, true));
    expect(loaded.pause).toHaveBeenCalledOnce();
    expect([loaded.currentTime, vi.mocked(loaded.play).mock.calls.length]).toEqual([0, 0]);
    const unloaded = video({ readyState: 1 });
    synchronize(unloaded, at(0, {}, true));
    expect(unloaded.play).toHaveBeenCalledOnce();
  });

  it("does not seek again while it is seeking", () => {
    const clip = video({ currentTime: 0, seeking: true });
    synchronize(clip, at(1));
    expect(clip.currentTime).toBe(0);
  });

  it("stops the clock until it can play, unless it has failed", () => {
    expect(isReady(video())).toBe(true);
    expect(isReady(video({ readyState: 1 }))).toBe(false);
    expect(isReady(video({ seeking: true }))).toBe(false);
    expect(isReady(video({ readyState: 2, currentTime: 2 }))).toBe(true);
    expect(isReady(video({ readyState: 0, error: {} as MediaError }))).toBe(true);
    expect(clipDuration(video({ duration: NaN }))).toBe(0);
  });
});

describe("the clip cache", () => {
  it("keeps every clip that may come next, however many there are", () => {
    const create = vi.spyOn(document, "createElement");
    const clips = new ClipCache(() => Promise.reject(new Error()));
    const next = Array.from({ length: 12 }, (_, i) => i);
    clips.prefetch([100, 101, 102]);
    clips.prefetch(next);
    for (const index of next) clips.take(index);
    expect(create).toHaveBeenCalledTimes(15);
    create.mockRestore();
  });

  it("gives out the video that was prefetched, once", () => {
    const create = vi.spyOn(document, "createElement");
    const clips = new ClipCache(() => Promise.reject(new Error()));
    clips.prefetch([1, 2, 3]);
    for (const index of [1, 2, 3]) clips.take(index);
    expect(create).toHaveBeenCalledTimes(3);
    clips.take(1);
    expect(create).toHaveBeenCalledTimes(4);
    create.mockRestore();
  });

  it("drops clips that were prefetched for earlier questions", () => {
    const create = vi.spyOn(document, "createElement");
    const clips = new ClipCache(() => Promise.reject(new Error()));
    for (let question = 0; question < 10; question++) clips.prefetch([3 * question, 3 * question + 1, 3 * question + 2]);
    clips.take(0);
    expect(create).toHaveBeenCalledTimes(31);
    for (const index of [27, 28, 29]) clips.take(index);
    expect(create).toHaveBeenCalledTimes(31);
    create.mockRestore();
  });

  it("loads two at a time before they are shown, so that an answer need not wait for a connection", () => {
    const load = vi.spyOn(HTMLMediaElement.prototype, "load").mockReturnValue();
    const asked: number[] = [];
    const clips = new ClipCache(
      () => Promise.reject(new Error()),
      (index) => {
        asked.push(index);
        return `/${index}.mp4`;
      },
    );
    clips.prefetch([1, 2, 3, 4]);
    expect(asked).toEqual([1, 2]);
    const first = clips.take(1);
    expect(asked).toEqual([1, 2, 3]);
    first.dispatchEvent(new Event("loadeddata")); // it is shown, and makes no more room
    expect(asked).toEqual([1, 2, 3]);
    clips.take(9);
    clips.take(4);
    expect(asked).toEqual([1, 2, 3, 9, 4]);
    clips.prefetch(Array.from({ length: 9 }, (_, i) => 20 + i));
    expect([load.mock.calls.length, asked.slice(5)]).toEqual([2, [20, 21]]); // those that nobody needs any more are given up
    load.mockRestore();
  });

  it("knows the shape of a clip once its video is loaded, and takes others to be like it", () => {
    const clips = new ClipCache(() => Promise.reject(new Error()));
    expect(clips.aspectOf(1)).toBeCloseTo(4 / 3);
    clips.measure(1, { videoWidth: 0, videoHeight: 0 });
    clips.measure(2, { videoWidth: 1600, videoHeight: 400 });
    expect([clips.aspectOf(1), clips.aspectOf(2)]).toEqual([4, 4]);
    clips.measure(1, { videoWidth: 300, videoHeight: 600 });
    expect([clips.aspectOf(1), clips.aspectOf(2)]).toEqual([0.5, 4]);
  });
});
