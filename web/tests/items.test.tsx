import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Items } from "../src/compare/items";
import { Playback } from "../src/player/playback";
import type { Trajectory } from "../src/trajectories";

const features = [{ name: "speed", unit: "m/s", low: 0, high: 4 }];
const bars = (speed: number): Trajectory => ({ kind: "features", features, values: { speed } });

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function shown(items: Trajectory[] | null, count = 3): { onClick: ReturnType<typeof vi.fn>; show: (next: Trajectory[] | null) => void } {
  const onClick = vi.fn<(position: number) => void>();
  const playback = new Playback(true);
  const view = (next: Trajectory[] | null): ReturnType<typeof Items> => (
    <Items items={next} count={count} question={1} playback={playback} onClick={onClick} />
  );
  const { rerender } = render(view(items));
  return { onClick, show: (next) => rerender(view(next)) };
}

describe("three items", () => {
  it("are all shown, with their labels", () => {
    shown([bars(1), bars(2), bars(4)]);
    expect(Array.from(document.querySelectorAll("figcaption"), (caption) => caption.textContent)).toEqual(["A", "B", "C"]);
    expect(screen.getByLabelText("Trajectory C").textContent).toContain("4 m/s");
    expect(Array.from(document.querySelectorAll<HTMLElement>(".bar-fill"), (bar) => bar.style.width)).toEqual(["25%", "50%", "100%"]);
  });

  it("say which one was clicked", () => {
    const { onClick } = shown([bars(1), bars(2), bars(4)]);
    for (const frame of document.querySelectorAll(".clip-frame")) fireEvent.click(frame);
    expect(onClick.mock.calls).toEqual([[0], [1], [2]]);
  });

  it("stay, dimmed, while the next ones are loading", () => {
    const { show } = shown([bars(1), bars(2), bars(4)]);
    show(null);
    expect(document.querySelector(".items-loading")).not.toBeNull();
    expect(document.querySelectorAll(".bar-fill").length).toBe(3);
  });

  it("have empty places before the first ones are loaded", () => {
    shown(null);
    expect(document.querySelectorAll(".item .screen").length).toBe(3);
  });
});
