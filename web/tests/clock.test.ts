import { describe, expect, it } from "vitest";

import { Clock, PAUSE, SPEEDS } from "../src/player/clock";

const playing = (seconds = 2, frame = 0.1): Clock => new Clock(seconds, frame);

describe("the clock", () => {
  it("advances with real time", () => {
    const clock = playing();
    clock.advance(0.25);
    clock.advance(0.5);
    expect(clock.time).toBeCloseTo(0.75);
  });

  it("pauses at the end before it starts again", () => {
    const clock = playing();
    clock.advance(2.1);
    expect(clock.time).toBe(2);
    clock.advance(PAUSE - 0.2);
    expect(clock.time).toBe(2);
    clock.advance(0.2);
    expect(clock.time).toBeCloseTo(0.1);
  });

  it("loops with the same period, whatever the frame rate", () => {
    const coarse = playing();
    const fine = playing();
    for (let i = 0; i < 100; i++) coarse.advance(0.1);
    for (let i = 0; i < 1000; i++) fine.advance(0.01);
    expect(fine.time).toBeCloseTo(coarse.time, 6);
    expect(fine.time).toBeCloseTo(10 - 3 * (2 + PAUSE), 6);
  });

  it("pauses equally long at every speed", () => {
    const clock = playing();
    clock.speed = 2;
    clock.advance(1);
    clock.advance(PAUSE - 0.01);
    expect(clock.time).toBe(2);
    clock.advance(0.02);
    expect(clock.time).toBeCloseTo(0.02);
  });

  it("stops while paused, and continues from there", () => {
    const clock = playing();
    clock.advance(0.5);
    clock.toggle();
    clock.advance(5);
    expect(clock.time).toBe(0.5);
    clock.toggle();
    clock.advance(0.5);
    expect(clock.time).toBe(1);
  });

  it("plays from the start when it is started at the end", () => {
    const clock = playing();
    clock.playing = false;
    clock.seek(2);
    clock.toggle();
    expect([clock.time, clock.playing]).toEqual([0, true]);
  });

  it("steps by whole frames, and pauses", () => {
    const clock = playing();
    clock.advance(0.25);
    clock.step(1);
    expect([clock.time, clock.playing]).toEqual([expect.closeTo(0.3), false]);
    clock.step(-1);
    expect(clock.time).toBeCloseTo(0.2);
    clock.seek(0.25);
    clock.step(-1);
    expect(clock.time).toBeCloseTo(0.2);
  });

  it("visits every frame in steps, forward and back, and stops at the ends", () => {
    const clock = new Clock(1.2, 0.04); // 0.12 / 0.04 is not quite 3
    clock.seek(0);
    const forward = Array.from({ length: 31 }, () => (clock.step(1), clock.time));
    expect(forward).toEqual(Array.from({ length: 31 }, (_, i) => expect.closeTo(Math.min((i + 1) * 0.04, 1.2)) as number));
    for (let i = 0; i < 40; i++) clock.step(-1);
    expect(clock.time).toBe(0);
  });

  it("has five speeds", () => {
    const clock = playing();
    const seen = new Set<number>();
    for (let i = 0; i < 14; i++) {
      if (i < 7) clock.slower();
      else clock.faster();
      seen.add(clock.speed);
    }
    expect([...seen].sort((a, b) => a - b)).toEqual([...SPEEDS]);
    expect(clock.speed).toBe(2);
    clock.advance(0.5);
    expect(clock.time).toBe(1);
  });

  it("does not move when there is nothing to play", () => {
    const clock = playing(0);
    clock.advance(10);
    expect(clock.time).toBe(0);
  });
});
