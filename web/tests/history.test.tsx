import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Display, PastAnswer } from "../src/api";
import { Server } from "../src/server";
import { History } from "../src/teach/history";
import { Trajectories } from "../src/trajectories";
import { fakeFetch } from "./fakes";

const display: Display = { kind: "features", no_video: "", features: [{ name: "speed", unit: "m/s", levels: [] as string[], ordered: true, low: 0, high: 4 }] } as Display;
const past: PastAnswer = {
  question: 7,
  number: 1,
  items: [3, 12],
  ids: ["run03.mp4", "run12.mp4"],
  kind: "pair",
  choice: "right",
  words: [],
  because: null, selection: "best", note: "", tags: [], seconds: 2.5,
  at: "2026-03-01T10:00:00Z",
  deleted: false,
};

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function shown(...answers: PastAnswer[]): void {
  const { fetcher } = fakeFetch({ body: { features: { speed: 2 }, replay: null } });
  vi.stubGlobal("fetch", fetcher);
  show(display, answers);
}

function show(shownAs: Display, answers: PastAnswer[]): void {
  const trajectories = new Trajectories(new Server(), shownAs);
  render(<History answers={answers} trajectories={trajectories} blocked={false} onChange={() => undefined} />);
}

const names = (): (string | null)[] => Array.from(document.querySelectorAll(".trajectory-name"), (name) => name.textContent);

describe("the history", () => {
  it("has one column for answers about one trajectory, and its level in words", () => {
    shown({ ...past, items: [3], ids: ["run03.mp4"], kind: "rate-3", choice: "3", words: ["poor", "fair", "fine"] });
    expect(names()).toEqual(["run03.mp4 no. 3"]);
    expect(screen.getByRole("columnheader", { name: "Trajectory" })).toBeTruthy();
    expect(screen.getByRole("cell", { name: "3, fine" })).toBeTruthy();
  });

  it("names trajectories by their ids beside their indices", () => {
    shown(past);
    expect(names()).toEqual(["run03.mp4 no. 3", "run12.mp4 no. 12"]);
  });

  it("names them by their indices where they have no ids, or ids that are the indices", () => {
    shown({ ...past, ids: null }, { ...past, question: 8, ids: ["3", "12"] });
    expect(names()).toEqual(["no. 3", "no. 12", "no. 3", "no. 12"]);
  });

  it("replays a question with its trajectories and the answer", async () => {
    shown(past);
    fireEvent.click(screen.getByRole("button", { name: "Replay question 1" }));
    expect(screen.getByText("Question 1: you answered “B”")).not.toBeNull();
    expect((await screen.findByText("speed")).closest(".feature-row")?.textContent).toContain("2 m/s");
    expect(Array.from(document.querySelectorAll(".replay-names > span"), (one) => one.textContent)).toEqual(["A run03.mp4 no. 3", "B run12.mp4 no. 12"]);
  });

  it("leaves room for motions that are not there yet", () => {
    vi.stubGlobal("fetch", () => new Promise(() => undefined));
    show({ ...display, kind: "clips" }, [past]);
    fireEvent.click(screen.getByRole("button", { name: "Replay question 1" }));
    expect(screen.getByText("Loading the motions…").closest(".replay-items")?.querySelectorAll(".empty-frame")).toHaveLength(2);
  });
});
