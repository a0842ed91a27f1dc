import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { rankedRows } from "../src/compare/feature-table";
import { Items } from "../src/compare/items";
import { ClipCache } from "../src/player/clips";
import { Playback } from "../src/player/playback";
import type { Trajectory } from "../src/trajectories";

const clips = new ClipCache(() => Promise.reject(new Error("not asked")));
const clip = (index: number): Trajectory => ({ kind: "clips", index, clips: () => clips });

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function shown(items: Trajectory[] | null, count = 3): { onClick: ReturnType<typeof vi.fn>; show: (next: Trajectory[] | null) => void } {
  const onClick = vi.fn<(position: number) => void>();
  const playback = new Playback(true);
  const view = (next: Trajectory[] | null): ReturnType<typeof Items> => (
    <Items items={next} busy={false} count={count} question={1} playback={playback} onClick={onClick} onProblem={() => undefined} />
  );
  const { rerender } = render(view(items));
  return { onClick, show: (next) => rerender(view(next)) };
}

describe("three items", () => {
  it("are all shown, with their labels", () => {
    shown([clip(1), clip(2), clip(4)]);
    expect(Array.from(document.querySelectorAll("figcaption"), (caption) => caption.textContent)).toEqual(["A", "B", "C"]);
    expect(screen.getByLabelText("Trajectory C").querySelector("video")?.src).toContain("/api/clips/4.mp4");
  });

  it("say which one was clicked", () => {
    const { onClick } = shown([clip(1), clip(2), clip(4)]);
    for (const frame of document.querySelectorAll(".clip-frame")) fireEvent.click(frame);
    expect(onClick.mock.calls).toEqual([[0], [1], [2]]);
  });

  it("stay, dimmed, while the next ones are being prepared", () => {
    const { show } = shown([clip(1), clip(2), clip(4)]);
    show(null);
    expect(document.querySelector(".items-loading")).not.toBeNull();
    expect(screen.getByRole("status").textContent).toContain("being prepared");
    expect(document.querySelectorAll("video").length).toBe(3);
  });

  it("have empty places before the first ones are loaded", () => {
    shown(null);
    expect(document.querySelectorAll(".item .screen").length).toBe(3);
  });
});

describe("items that are features alone", () => {
  const features = Array.from({ length: 12 }, (_, i) => ({ name: `f${i}`, unit: i === 3 ? "m/s" : "", levels: [] as string[], ordered: true, low: 0, high: 10 }));
  const item = (...values: number[]): Extract<Trajectory, { kind: "features" }> => {
    const named = features.map(({ name }, i) => [name, values[i] ?? 5] as const);
    return { kind: "features", features, values: Object.fromEntries(named) };
  };

  it("show those that differ most, and fold the others", () => {
    shown([item(5, 4, 5, 1), item(5, 6, 5, 9)], 2);
    const open = Array.from(document.querySelectorAll(".feature-table > dl dt"), (name) => name.textContent);
    expect(open.slice(0, 2)).toEqual(["f3", "f1"]);
    expect(open.length).toBe(6);
    expect(document.querySelector("details summary")?.textContent).toBe("6 other features that differ less");
    expect(document.querySelectorAll("details dt").length).toBe(6);
  });

  it("show at a glance which has more, and how much more", () => {
    shown([item(5, 4, 5, 1), item(5, 6, 5, 9)], 2);
    const row = document.querySelector(".feature-row");
    expect(row?.textContent).toBe("f3A 1 m/sB 9 m/sABB has 8 m/s more");
    expect(row?.querySelector<HTMLElement>(".track-bar")?.style.width).toBe("80%");
    expect(Array.from(row?.querySelectorAll<HTMLElement>(".mark") ?? [], (mark) => mark.style.left)).toEqual(["10%", "90%"]);
  });

  it("show the levels of a category, without a track if they have no order", () => {
    const surface = { name: "surface", unit: "", levels: ["clay", "grass", "sand"], ordered: false, low: 0, high: 2 };
    const size = { ...surface, name: "size", levels: ["small", "medium", "large"], ordered: true };
    const made = (...places: [number, number]): Extract<Trajectory, { kind: "features" }> => {
      return { kind: "features", features: [size, surface], values: { size: places[0], surface: places[1] } };
    };
    shown([made(0, 1), made(1, 2)], 2);
    const rows = Array.from(document.querySelectorAll(".feature-row"), (row) => row.textContent);
    expect(rows).toEqual(["surfaceA grassB sanddifferent", "sizeA smallB mediumABdifferent"]);
  });

  it("are not folded if there are few, and their order is that of the features where nothing differs", () => {
    const few = (values: number[]): Extract<Trajectory, { kind: "features" }> => ({ ...item(...values), features: features.slice(0, 7) });
    shown([few([1]), few([1])], 2);
    expect(document.querySelector("details")).toBeNull();
    expect(rankedRows([few([1]), few([1])]).map(({ feature }) => feature.name)).toEqual(["f0", "f1", "f2", "f3", "f4", "f5", "f6"]);
  });
});
