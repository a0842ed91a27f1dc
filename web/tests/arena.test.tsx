import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ArenaResult as Result, ArenaState, PolicyStanding } from "../src/api";
import { ArenaProgress, ArenaResult } from "../src/study/arena";

const arena: ArenaState = { answers: 12, questions: 120, result: null };
const unlabelled = { passes: 0, fails: 0, success: null, success_low: null, success_high: null };
const first: PolicyStanding = {
  ...unlabelled, policy: "careful", strength: 1, low: 0.5, high: 1.5, wins: 9, losses: 2, ties: 1, better_than_next: 0.97,
};
const last: PolicyStanding = { ...first, policy: "hasty", strength: -1, low: -1.5, high: -0.5, better_than_next: null };
const result: Result = { sentences: ["The order is careful, hasty: 97%."], standings: [first, last], report: "prefero arena report" };

afterEach(cleanup);

describe("an arena", () => {
  it.each([
    [0, "0 of at most 120", 0],
    [12, "12 of at most 120", 10],
    [130, "130 answers", 100],
  ])("shows how many answers were given, from an empty bar on: %i", (answers, text, percent) => {
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
    fireEvent.click(screen.getByRole("button", { name: "Continue answering" }));
    expect(onContinue).toHaveBeenCalledOnce();
  });

  it("says how often policies succeed, and nothing of comparisons if there were none", () => {
    const labels = { passes: 10, fails: 2, success: 0.81, success_low: 0.64, success_high: 0.93, wins: 0, losses: 0, ties: 0 };
    const standings = [{ ...first, ...labels }];
    render(<ArenaResult result={{ ...result, standings }} onContinue={vi.fn()} />);
    expect(screen.getAllByRole("columnheader").map((cell) => cell.textContent)).not.toContain("Won, lost, equal");
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells).toEqual(["+1.00 (+0.50 to +1.50)", "81% (64% to 93%), 10 of 12 passed", "97%"]);
  });
});
