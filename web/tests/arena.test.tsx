import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";

import type { ArenaState, PolicyStanding } from "../src/api";
import { certaintyText, StandingsTable } from "../src/study/arena";

const arena: ArenaState = { goal: "order", probability: 0.63, confidence: 0.95, answers: 12, standings: null };
const first: PolicyStanding = { policy: "careful", strength: 1, low: 0.5, high: 1.5, wins: 9, losses: 2, ties: 1, better_than_next: 0.97 };
const last: PolicyStanding = { ...first, policy: "hasty", strength: -1, low: -1.5, high: -0.5, better_than_next: null };

afterEach(cleanup);

describe("an arena", () => {
  it("says how sure the goal is, and when it ends", () => {
    expect(certaintyText(arena)).toBe("order 63% sure, goal 95%");
    expect(certaintyText({ ...arena, goal: "best", probability: 0.999 })).toBe("best policy over 99% sure, goal 95%");
    expect(certaintyText({ ...arena, answers: 0 })).toBe("goal 95%");
  });

  it("lists the policies at its end, the strongest first", () => {
    render(<StandingsTable standings={[first, last]} />);
    const names = screen.getAllByRole("rowheader").map((cell) => cell.textContent);
    expect(names).toEqual(["careful", "hasty"]);
    expect(screen.getByText("97%")).toBeTruthy();
    expect(screen.getByText("-1.00, from -1.50 to -0.50")).toBeTruthy();
  });
});
