import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Display, PoolPage, PoolTrajectory } from "../src/api";
import { PendingRequests } from "../src/pending";
import { Server } from "../src/server";
import { Session } from "../src/session";
import { Signals } from "../src/signals";
import { MemoryStorage } from "../src/storage";
import { ALL, PoolState, searchOf } from "../src/teach/pool/pool-state";
import { PoolView } from "../src/teach/pool/pool-view";
import { Trajectories } from "../src/trajectories";
import { type Call, sessionState } from "./fakes";

const speed = { name: "speed", unit: "m/s", levels: [] as string[], ordered: true, low: 0, high: 4 };
const display: Display = { kind: "features", no_video: "", features: [speed], task_description: "", subject: "" };
const card = (index: number, changes: Partial<PoolTrajectory> = {}): PoolTrajectory => ({
  ...{ index, id: `run-${index}.mp4`, mean: 0.5, std: 0.2, acceptable: null, features: { speed: 2 }, shown: 0, note: "", tags: [] },
  ...changes,
});
const page = (changes: Partial<PoolPage> = {}): PoolPage => ({
  ...{ trajectories: [card(0), card(1), card(2)], matching: 3, total: 3, answers: 6, enough_answers: 5 },
  ...{ sizes: [2], tags: [{ tag: "collision", count: 1 }], features: [speed] },
  ...changes,
});

let calls: Call[] = [];

/** A server that answers by path. */
function serve(found: PoolPage): Server {
  calls = [];
  const bodies: [string, unknown][] = [
    ["/api/pool/question", sessionState({ question: { id: 9, number: 9, items: [0, 2], value: null, unit: null, by_hand: true, kind: "pair" } })],
    ["/api/pool", found],
    ["/api/history", { answers: [] }],
    ["/api/annotations", sessionState()],
    ["/api/trajectories", { features: { speed: 2 }, replay: null }],
  ];
  const fetcher = (path: string, request: RequestInit): Promise<Response> => {
    const sent = typeof request.body === "string" ? (JSON.parse(request.body) as Record<string, unknown>) : null;
    calls.push({ method: request.method ?? "GET", path, body: sent, session: null });
    const body = bodies.find(([start]) => path.startsWith(start))?.[1] ?? {};
    return Promise.resolve(new Response(JSON.stringify(body), { status: 200 }));
  };
  return new Server(undefined, fetcher);
}

async function show(found = page(), pool = new PoolState(), open = vi.fn()): Promise<{ pool: PoolState; open: typeof open }> {
  const server = serve(found);
  const session = new Session(server, new PendingRequests(new MemoryStorage(), "s"));
  const props = { session, state: sessionState(), server, pool, open, trajectories: new Trajectories(server, display) };
  render(<PoolView {...props} storage={new MemoryStorage()} signals={new Signals(server, new MemoryStorage())} />);
  await screen.findByLabelText("Search the pool");
  return { pool, open };
}

const sent = (path: string): Call[] => calls.filter((call) => call.path.startsWith(path) && call.method === "POST");

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the pool", () => {
  it("shows each trajectory with its reward, its tags and its note", async () => {
    await show(page({ trajectories: [card(7, { mean: 1.25, std: 0.3, tags: ["collision"], note: "Too close", shown: 2 })] }));
    const text = document.querySelector(".pool-card")?.textContent ?? "";
    for (const part of ["run-7.mp4", "1.3 ± 0.3", "shown 2×", "collision", "Too close"]) expect(text).toContain(part);
    expect(document.querySelector<HTMLElement>(".pool-bar span")?.style.width).toBe("50%");
  });

  it("says when it is too early for rewards, and when nothing fits", async () => {
    await show(page({ answers: 3, trajectories: [], matching: 0 }));
    expect(screen.getByText(/Rewards are shown after 2 more answers/)).toBeTruthy();
    expect(screen.getByText(/No trajectory fits/)).toBeTruthy();
  });

  it("asks the server for another order, and begins at the first page", async () => {
    const { pool } = await show(page({ matching: 100, total: 100 }));
    fireEvent.click(within(screen.getByRole("navigation", { name: "Pages of the pool" })).getByRole("button", { name: "Next" }));
    expect(searchOf(pool.filters.value).offset).toBe(24);
    fireEvent.change(screen.getByLabelText("Sort by"), { target: { value: "feature 0" } });
    expect(searchOf(pool.filters.value)).toMatchObject({ sort: "feature", feature: 0, offset: 0, descending: false });
    await waitFor(() => expect(calls.at(-1)?.path).toContain("sort=feature&feature=0"), { timeout: 2000 });
  });

  it("asks about those that are chosen, by a box or by C, once there are as many as a question has", async () => {
    const { pool, open } = await show();
    fireEvent.click(screen.getByLabelText("Choose run-0.mp4"));
    const compare = (): HTMLButtonElement => screen.getByRole("button", { name: /Compare these|Ask about this/ });
    expect(compare().disabled).toBe(true);
    expect(screen.getByText(/A question of this session has 2: choose 2/)).toBeTruthy();
    fireEvent.keyDown(screen.getByRole("button", { name: "Play run-2.mp4" }), { key: "c" });
    expect(pool.chosen.value).toEqual([0, 2]);
    fireEvent.click(compare());
    await waitFor(() => expect(open).toHaveBeenCalledWith("compare"));
    expect(sent("/api/pool/question")[0]?.body).toMatchObject({ items: [0, 2] });
    expect(pool.chosen.value).toEqual([]);
  });

  it("plays one in a dialog, where it gets tags and a note", async () => {
    await show();
    fireEvent.click(screen.getByRole("button", { name: "Play run-1.mp4" }));
    const field = await screen.findByPlaceholderText("such as collision");
    fireEvent.input(field, { target: { value: "  near   miss " } });
    fireEvent.keyDown(field, { key: "Enter" });
    await screen.findByLabelText("Remove the tag near miss");
    const note = screen.getByLabelText("Note");
    fireEvent.input(note, { target: { value: "Slow" } });
    fireEvent.blur(note);
    await waitFor(() => expect(sent("/api/annotations")).toHaveLength(2));
    expect(sent("/api/annotations").map(({ body }) => body)).toMatchObject([
      { trajectory: 1, kind: "tag", text: "near miss" },
      { trajectory: 1, kind: "note", text: "Slow" },
    ]);
  });
});

describe("a search", () => {
  it("has the ranges that were typed, and leaves out what is no number", () => {
    const ranges = new Map([[3, { low: "1.5", high: "" }], [0, { low: "-", high: "2e3" }]]);
    expect(searchOf({ ...ALL, ranges }).between).toEqual(["3:1.5:", "0::2000"]);
  });
});
