import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { FrameRateMonitor } from "../src/player/frame-rate";

let waiting: FrameRequestCallback[] = [];
let now = 0;

/** Draw a frame, which takes so many seconds. */
function draw(monitor: FrameRateMonitor, seconds: number): void {
  monitor.drawn();
  now += 1000 * seconds;
  for (const callback of waiting.splice(0)) callback(now);
}

function slowAfter(seconds: number, frames: number): number {
  const onSlow = vi.fn();
  const monitor = new FrameRateMonitor(onSlow);
  for (let i = 0; i < frames; i += 1) draw(monitor, seconds);
  return onSlow.mock.calls.length;
}

beforeEach(() => {
  [waiting, now] = [[], 0];
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => waiting.push(callback));
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the frame rate", () => {
  it("is not slow at 60 frames a second", () => expect(slowAfter(1 / 60, 200)).toBe(0));
  it("is slow at 10, after a second", () => expect(slowAfter(0.1, 12)).toBe(1));
  it("is slow after the first frame that takes seconds", () => expect(slowAfter(2.5, 1)).toBe(1));

  it("does not count a single slow frame", () => {
    const onSlow = vi.fn();
    const monitor = new FrameRateMonitor(onSlow);
    draw(monitor, 0.1);
    for (let i = 0; i < 19; i += 1) draw(monitor, 1 / 60);
    expect(onSlow).not.toHaveBeenCalled();
  });

  it("does not count the time between frames that are far apart, as in a pause", () => {
    const onSlow = vi.fn();
    const monitor = new FrameRateMonitor(onSlow);
    for (let i = 0; i < 40; i += 1) {
      draw(monitor, 1 / 60);
      now += 3000;
    }
    expect(onSlow).not.toHaveBeenCalled();
  });

  it("does not count the sleep of the computer", () => expect(slowAfter(3600, 2)).toBe(0));
});
