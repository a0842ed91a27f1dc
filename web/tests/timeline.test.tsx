/** The bar of time, and playing in turn. */

import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { nextOf } from "../src/compare/view-menu";
import { poseMoment, signalMoment } from "../src/compare/moment";
import { Playback, type PlaybackTarget, type Shown } from "../src/player/playback";
import { Timeline } from "../src/player/timeline";
import { ViewOptions } from "../src/player/view-options";
import { MemoryStorage } from "../src/storage";

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
  [frames, now] = [[], 0];
  vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => frames.push(frame));
  vi.stubGlobal("cancelAnimationFrame", () => (frames = []));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function clip(playback: Playback, place: number, seconds: number): number[] {
  const times: number[] = [];
  const target: PlaybackTarget = { seconds: () => seconds, ready: () => true, show: ({ time }: Shown) => void times.push(time) };
  playback.item(place).add(target);
  return times;
}

function pair(): { playback: Playback; a: number[]; b: number[] } {
  const playback = new Playback(false);
  return { playback, a: clip(playback, 0, 1), b: clip(playback, 1, 2) };
}

describe("clips that play in turn", () => {
  it("play one after the other, each to its end, and then again", () => {
    const { playback, a, b } = pair();
    playback.setInTurn(true);
    playback.begin(0.1, 3);
    tick(15);
    expect([a.at(-1), b.at(-1), playback.turn.value]).toEqual([expect.closeTo(0.7), 0, 0]);
    tick(30);
    expect([a.at(-1), playback.turn.value]).toEqual([1, 1]);
    expect(b.at(-1)).toBeGreaterThan(0);
    expect(playback.shown.value).toBeNull(); // B was not shown to its end yet
    tick(45);
    expect(playback.shown.value).toBe(3);
    tick(20);
    expect(playback.turn.value).toBe(0);
  });

  it("are shown only after each was seen at its end, in whatever order", () => {
    const { playback } = pair();
    playback.setInTurn(true);
    playback.begin(0.1, 4);
    tick(1);
    playback.item(1).seek(2);
    tick(1);
    expect(playback.shown.value).toBeNull();
    playback.item(0).seek(1);
    tick(1);
    expect(playback.shown.value).toBe(4);
  });

  it("stop at the end of the last, if they are not to be repeated", () => {
    const { playback, b } = pair();
    playback.setInTurn(true);
    playback.setLoop(false);
    playback.begin(0.1, 1);
    tick(150);
    expect([playback.playing.value, playback.turn.value, b.at(-1)]).toEqual([false, 1, 2]);
    playback.toggle();
    expect([playback.playing.value, playback.turn.value]).toEqual([true, 0]);
  });
});

describe("the bar of time", () => {
  it("is moved by keys, a frame each, which pauses", () => {
    const { playback, a } = pair();
    playback.begin(0.1);
    render(<Timeline playback={playback} item={0} name="Trajectory A" />);
    const bar = screen.getByRole("slider");
    fireEvent.keyDown(bar, { key: "End" });
    tick(1);
    expect([a.at(-1), playback.playing.value, bar.getAttribute("aria-valuetext")]).toEqual([2, false, "2 of 2 seconds"]);
    fireEvent.keyDown(bar, { key: "ArrowLeft" });
    tick(1);
    expect(a.at(-1)).toBeCloseTo(1.9);
  });

  it("is one for all clips that play together, and one for each in turn", () => {
    const { playback } = pair();
    const bars = (): JSX => (
      <>
        <Timeline playback={playback} item={0} name="Trajectory A" />
        <Timeline playback={playback} item={1} name="Trajectory B" />
      </>
    );
    const { rerender } = render(bars());
    expect(screen.getAllByRole("slider").length).toBe(1);
    playback.setInTurn(true);
    rerender(bars());
    expect(screen.getAllByRole("slider").map((bar) => bar.getAttribute("aria-label"))).toEqual(["Time of Trajectory A", "Time of Trajectory B"]);
  });
});

type JSX = ReturnType<typeof Timeline>;

describe("the moment of the largest difference", () => {
  const signals = (values: number[]): Parameters<typeof signalMoment>[0][number] => ({
    signals: [{ name: "speed", unit: "m/s", times: [0, 1, 2], values }],
    left_out: 0,
    ranges: [],
    values: {},
    deviations: {},
  });

  it("is that of the signal that differs most, with both values", () => {
    const moment = signalMoment([signals([0, 1, 0]), signals([0, 4, 0])]);
    expect(moment?.time).toBeCloseTo(1, 1);
    expect(moment?.text).toContain("in speed: A ");
    expect(signalMoment([signals([1, 1, 1]), signals([1, 1, 1])])).toBeNull();
  });

  it("is not known of videos alone", () => expect(poseMoment([])).toBeNull());
});

describe("how a person wants to see clips", () => {
  it("is remembered", () => {
    const storage = new MemoryStorage();
    const options = new ViewOptions(storage);
    options.toggleLoop();
    options.toggleInTurn();
    options.chooseCamera("from above");
    const next = new ViewOptions(storage);
    expect([next.loop.value, next.inTurn.value, next.camera.value]).toEqual([false, true, "from above"]);
  });

  it("goes through the cameras, from the first if the chosen one is not there", () => {
    expect([nextOf(["a", "b"], ""), nextOf(["a", "b"], "b"), nextOf(["a", "b"], "c")]).toEqual(["b", "a", "b"]);
  });
});
