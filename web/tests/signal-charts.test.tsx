import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { SessionState, Signal, TrajectorySignals } from "../src/api";
import { Compare } from "../src/compare/compare";
import { SignalPanel } from "../src/compare/signal-charts";
import { Playback } from "../src/player/playback";
import { Server } from "../src/server";
import { Signals } from "../src/signals";
import { MemoryStorage } from "../src/storage";
import { Trajectories } from "../src/trajectories";
import { fakeFetch, type FakeResponse, NETWORK_ERROR, rejection, sessionState } from "./fakes";

const TEXTS = { task_description: "", subject: "" };
const line = (name: string, ...values: number[]): Signal => ({ name, unit: "m", times: values.map((_, i) => i), values });
const RANGE = { name: "mean x", unit: "m", levels: [], ordered: true, low: 0, high: 9 };
const A: TrajectorySignals = {
  signals: [line("x", 0, 1, 2), line("same", 5, 6, 5), line("y", 0, 0, 4), line("z", 1, 2, 3), line("w", 1, 2, 4)],
  deviations: {}, left_out: 0,
  ranges: [RANGE],
  values: { "mean x": 1 },
};
const B: TrajectorySignals = {
  signals: [line("x", 2, 1, 0), line("same", 5, 6, 5), line("y", 0, 0, 5), line("z", 1, 2, 4), line("w", 1, 2, 5)],
  deviations: {}, left_out: 0,
  ranges: [RANGE],
  values: { "mean x": 3 },
};

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const signalsOf = (storage: Storage, ...responses: FakeResponse[]): Signals => new Signals(new Server(undefined, fakeFetch(...responses).fetcher), storage);
const settled = (): Promise<void> => act(() => new Promise((resolve) => setTimeout(resolve)));

describe("the charts", () => {
  async function shown(): Promise<Playback> {
    const playback = new Playback(false);
    playback.add({ seconds: () => 2, ready: () => true, show: () => undefined });
    playback.begin(0.1);
    render(<SignalPanel signals={signalsOf(new MemoryStorage(), { body: A }, { body: B })} indices={[3, 8]} playback={playback} />);
    await settled();
    return playback;
  }
  const names = (place: string): string[] => Array.from(document.querySelectorAll(`${place} [role=img]`), (one) => one.getAttribute("aria-label") ?? "");

  it("are of the four signals that differ most, and the others are folded", async () => {
    await shown();
    const shownFirst = names(".signals > .signal-grid").map((name) => name.split(",")[0]);
    expect(shownFirst).toEqual(["x of A", "x of B", "z of A", "z of B", "w of A", "w of B", "y of A", "y of B"]);
    expect(names(".signals")[0]).toBe("x of A, from 0 to 2 m; farthest apart at 0 s: A 0, B 2");
    expect(screen.getByText("1 more signal")).toBeTruthy();
    expect(names("details")).toEqual(["same of A, from 5 to 6 m; the same in both", "same of B, from 5 to 6 m; the same in both"]);
  });

  it("have one vertical scale for both", async () => {
    await shown();
    const [a, b] = Array.from(document.querySelectorAll(".signal-own"), (one) => one.getAttribute("points"));
    expect([a, b]).toEqual(["0.0,100.0 500.0,50.0 1000.0,0.0", "0.0,0.0 500.0,50.0 1000.0,100.0"]);
    const scales = Array.from(document.querySelectorAll(".signal-high, .signal-low"), (one) => one.textContent);
    expect(scales.slice(0, 4)).toEqual(["2", "0", "2", "0"]);
  });

  it("follow the clips, and a click seeks them", async () => {
    const playback = await shown();
    playback.toggle(); // it stays paused
    const [chart] = document.querySelectorAll(".signal-chart");
    vi.spyOn(chart ?? document.body, "getBoundingClientRect").mockReturnValue(new DOMRect(100, 0, 200, 40));
    if (chart) fireEvent.click(chart, { clientX: 250 });
    await vi.waitFor(() => expect(document.querySelector<HTMLElement>(".signal-cursor")?.style.left).toBe("75.00%"));
    expect([playback.time, playback.playing.value]).toEqual([1.5, false]);
    expect(Array.from(document.querySelectorAll(".signal-caption output"), (one) => one.textContent).slice(0, 2)).toEqual(["1.5", "0.5"]);
  });

  it("are beside the features of both", async () => {
    await shown();
    expect(screen.getByText("Features of both")).toBeTruthy();
    expect(screen.getByText("B has 2 m more")).toBeTruthy();
  });

  it("say why they are not there", async () => {
    render(<SignalPanel signals={signalsOf(new MemoryStorage(), rejection(404, "no-trajectory", "it is gone"))} indices={[3, 8]} playback={new Playback(false)} />);
    await settled();
    expect(screen.getByText("It is gone.")).toBeTruthy();
  });
});

describe("a teacher's question", () => {
  const display = { ...TEXTS, kind: "features" as const, features: [], no_video: "" };
  const trajectories = (): Trajectories => new Trajectories(new Server(undefined, fakeFetch({ body: { features: {}, trajectories: [], complete: true } }).fetcher), display);

  async function asked(signals: Signals | undefined, state: SessionState = sessionState()): Promise<void> {
    const { question } = state;
    if (!question) throw new Error("no question");
    const props = { state, question, trajectories: trajectories(), blocked: false, onAnswer: vi.fn<() => void>(), onUndo: vi.fn<() => void>() };
    render(<Compare {...props} signals={signals} />);
    await settled();
  }
  const button = (): HTMLElement | null => screen.queryByRole("button", { name: /^Signals/ });
  const panel = (): HTMLElement | null => screen.queryByRole("region", { name: "Signals over time" });
  const press = (): Promise<void> => {
    fireEvent.keyDown(document.body, { key: "g" });
    return settled();
  };

  it("shows them with a key or a button, and the browser remembers it", async () => {
    const storage = new MemoryStorage();
    await asked(signalsOf(storage, { body: A }));
    expect([panel(), button()?.getAttribute("aria-pressed")]).toEqual([null, "false"]);
    await press();
    expect(panel()).not.toBeNull();
    expect(button()?.getAttribute("aria-pressed")).toBe("true");
    cleanup();
    await asked(signalsOf(storage, { body: A }));
    expect(panel()).not.toBeNull();
    fireEvent.click(button() ?? document.body);
    await settled();
    expect(panel()).toBeNull();
    expect(signalsOf(storage).shown.value).toBe(false);
  });

  it.each([
    ["there are none", { body: { ...A, signals: [] } }],
    ["they cannot be read", rejection(404, "no-trajectory")],
    ["the server is away", NETWORK_ERROR],
  ])("has no button where %s", async (_, response) => {
    await asked(signalsOf(new MemoryStorage(), response));
    await press();
    expect([button(), panel()]).toEqual([null, null]);
  });

  it("has none in a study, and none about other numbers of trajectories", async () => {
    await asked(undefined);
    expect(button()).toBeNull();
    cleanup();
    const question = { id: 1, number: 1, items: [3], value: null, unit: null, by_hand: false, kind: "rate-3" };
    await asked(signalsOf(new MemoryStorage(), { body: A }), sessionState({ items: 1, question, words: ["a", "b", "c"], choices: ["1", "2", "3"], kinds: ["rate-3"] }));
    expect(button()).toBeNull();
  });
});
