import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Playback, type PlaybackTarget } from "../src/player/playback";

/** A view that records the times it showed. */
class RecordingTarget implements PlaybackTarget {
  readonly seen: number[] = [];
  constructor(
    private readonly length: number,
    public isReady = true,
  ) {}

  seconds = (): number => this.length;
  ready = (): boolean => this.isReady;
  show = (playback: Playback): void => void this.seen.push(playback.time);
}

let frames: FrameRequestCallback[] = [];
let now = 0;

function tick(count: number): void {
  for (let i = 0; i < count; i++) {
    now += 50;
    const waiting = frames;
    frames = [];
    for (const frame of waiting) frame(now);
  }
}

beforeEach(() => {
  frames = [];
  now = 0;
  vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => frames.push(frame));
  vi.stubGlobal("cancelAnimationFrame", () => (frames = []));
});
afterEach(() => vi.unstubAllGlobals());

describe("a playback", () => {
  it("shows all items the same times, and lasts as long as the longest", () => {
    const playback = new Playback(false);
    const items = [new RecordingTarget(1), new RecordingTarget(2), new RecordingTarget(1.5)];
    for (const item of items) playback.add(item);
    playback.begin(0.1);
    tick(60);
    const [first, ...others] = items.map((item) => item.seen);
    expect(first?.length).toBeGreaterThan(50);
    for (const other of others) expect(other).toEqual(first);
    expect(Math.max(...(first ?? []))).toBe(2);
  });

  it("waits until all items are ready", () => {
    const playback = new Playback(false);
    const late = new RecordingTarget(2, false);
    for (const item of [new RecordingTarget(2), new RecordingTarget(2), late]) playback.add(item);
    playback.begin(0.1);
    tick(10);
    expect(playback.time).toBe(0);
    late.isReady = true;
    tick(1);
    expect([playback.time, playback.since.current]).toEqual([0, now]); // an answer's time begins with the motion's
    tick(10);
    expect([playback.time, playback.since.current]).toEqual([expect.closeTo(0.5), now - 500]);
    playback.begin(0.1);
    expect(playback.since.current).not.toBe(now - 500);
  });

  it("starts a new question from the beginning, even if the last was paused", () => {
    const playback = new Playback(false);
    playback.add(new RecordingTarget(2));
    playback.begin(0.1);
    tick(8);
    playback.toggle();
    playback.begin(0.1);
    expect([playback.time, playback.playing.value]).toEqual([0, true]);
  });

  it("does not draw the same frame repeatedly while paused", () => {
    const playback = new Playback(false);
    const witness = new RecordingTarget(2);
    playback.add(witness);
    playback.begin(0.1);
    playback.toggle();
    tick(1);
    const drawn = witness.seen.length;
    tick(20);
    expect(witness.seen.length).toBe(drawn);
    playback.step(1);
    tick(1);
    expect(witness.seen.at(-1)).toBeCloseTo(0.1);
  });

  it("shows the end and the path with reduced motion", () => {
    const playback = new Playback(true);
    playback.add(new RecordingTarget(2));
    playback.begin(0.1);
    tick(20);
    expect([playback.time, playback.playing.value, playback.still]).toEqual([2, false, true]);
    playback.toggle();
    tick(3);
    expect([playback.playing.value, playback.still]).toEqual([true, false]);
    expect(playback.time).toBeLessThan(0.5);
  });

  it("knows which question was shown to its end, or skipped through", () => {
    const playback = new Playback(false);
    const items = [new RecordingTarget(1), new RecordingTarget(2)];
    for (const item of items) playback.add(item);
    playback.begin(0.1, 7);
    tick(40);
    expect(playback.shown.value).toBeNull();
    tick(2);
    expect(playback.shown.value).toBe(7);
    playback.begin(0.1, 8);
    expect(playback.shown.value).toBeNull();
    playback.toEnd();
    tick(1);
    expect([playback.shown.value, playback.time]).toEqual([8, 2]);
  });

  it("has not shown what is not loaded, nor a clip of which only the end is seen", () => {
    const late = new RecordingTarget(2, false);
    const playback = new Playback(false);
    playback.add(late);
    playback.begin(0.1, 1);
    playback.toEnd();
    tick(3);
    expect(playback.shown.value).toBeNull();
    late.isReady = true;
    tick(1);
    expect(playback.shown.value).toBe(1);

    const still = new Playback(true);
    still.add(Object.assign(new RecordingTarget(2), { mustPlay: true }));
    still.begin(0.1, 1);
    tick(3);
    expect(still.shown.value).toBeNull();
    still.toEnd();
    tick(1);
    expect(still.shown.value).toBe(1);
  });

  it("requests no frames without views", () => {
    const playback = new Playback(false);
    const unsubscribe = playback.add(new RecordingTarget(2));
    unsubscribe();
    expect(frames).toEqual([]);
  });
});
