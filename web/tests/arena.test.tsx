import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ArenaResult as Result, ArenaState, PolicyStanding } from "../src/api";
import { ArenaProgress, ArenaResult } from "../src/study/arena";

const arena: ArenaState = { answers: 12, questions: 120, result: null };
const first: PolicyStanding = { policy: "careful", strength: 1, low: 0.5, high: 1.5, wins: 9, losses: 2, ties: 1, better_than_next: 0.97 };
const last: PolicyStanding = { ...first, policy: "hasty", strength: -1, low: -1.5, high: -0.5, better_than_next: null };
const result: Result = { sentences: ["The order is careful, hasty: 97%."], standings: [first, last], report: "prefero arena report" };

afterEach(cleanup);

describe("an arena", () => {
  it.each([
    [0, "0 of at most 120", 0],
    [12, "12 of at most 120", 10],
    [130, "130 comparisons", 100],
  ])("shows how many comparisons were made, from an empty bar on: %i", (answers, text, percent) => {
    render(<ArenaProgress arena={{ ...arena, answers }} onResult={vi.fn()} />);
    expect(screen.getByText(text)).toBeTruthy();
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe(String(percent));
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("shows the result again while it goes on", () => {
    const onResult = vi.fn();
    render(<ArenaProgress arena={{ ...arena, result }} onResult={onResult} />);
    fireEvent.click(screen.getByRole("button", { name: "Result" }));
    expect(onResult).toHaveBeenCalledOnce();
  });

  it("says what was found in numbers, the strongest policy first, and what can be done next", () => {
    const onContinue = vi.fn();
    render(<ArenaResult result={result} onContinue={onContinue} />);
    const names = screen.getAllByRole("rowheader").map((cell) => cell.textContent);
    expect(names).toEqual(["careful", "hasty"]);
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells).toEqual(["+1.00 (+0.50 to +1.50)", "9, 2, 1", "97%", "\u22121.00 (\u22121.50 to \u22120.50)", "9, 2, 1", ""]);
    expect(screen.getByText("The order is careful, hasty: 97%.")).toBeTruthy();
    expect(screen.getByText("prefero arena report")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Continue comparing" }));
    expect(onContinue).toHaveBeenCalledOnce();
  });
});
