import { describe, expect, it, vi } from "vitest";

import { clipDuration, isReady, synchronize, type VideoState } from "../src/player/clips";
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

function at(time: number, changes: Partial<Clock> = {}): { time: number; clock: Clock } {
  const clock = Object.assign(new Clock(2), changes);
  return { time, clock };
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
