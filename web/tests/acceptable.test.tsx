import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { AcceptableTrajectories, RankedTrajectory } from "../src/api";
import { Server } from "../src/server";
import { Acceptable } from "../src/teach/acceptable";
import { Trajectories } from "../src/trajectories";
import { fakeFetch } from "./fakes";

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const features = [{ name: "speed", unit: "m/s", levels: [], ordered: true, low: 0, high: 2 }];
const near = (rank: number, acceptable: number | null): RankedTrajectory => ({
  rank,
  index: 10 + rank,
  id: `run ${rank}`,
  mean: 0.3,
  std: 0.1,
  acceptable,
  features: { speed: 1 },
});
const found: AcceptableTrajectories = {
  count: { mean: 139.6, low: 120.2, high: 155.4 },
  total: 200,
  bar: { mean: -0.43, low: -0.7, high: 0.02 },
  nearest: [near(61, 0.999), near(62, 0.52), near(63, null)],
};

async function shown(acceptable: AcceptableTrajectories): Promise<void> {
  const { fetcher } = fakeFetch({ body: { features: { speed: 1 }, trajectories: [], complete: true } });
  const display = { task_description: "", subject: "", kind: "features" as const, features, no_video: "" };
  const trajectories = new Trajectories(new Server(undefined, fetcher), display);
  await act(async () => {
    render(<Acceptable acceptable={acceptable} features={[]} trajectories={trajectories} />);
    await new Promise((resolve) => setTimeout(resolve));
  });
}

describe("what is acceptable", () => {
  it("is how many trajectories are, between which numbers, and where the bar lies", async () => {
    await shown(found);
    expect(document.querySelector(".big-number")?.textContent).toBe("140 of 200");
    screen.getByText(/probably between 120 and 155/);
    screen.getByText("Just acceptable is a reward 0.4 below average");
    screen.getByText(/between 0.7 below average and at the average/);
  });

  it("lists those nearest to the bar, with how probably each is acceptable", async () => {
    await shown(found);
    const rows = screen.getAllByRole("button").filter(({ classList }) => classList.contains("rank"));
    expect(rows.map((row) => row.querySelector(".rank-acceptable")?.textContent)).toEqual(["over 99% acceptable", "52% acceptable", undefined]);
    fireEvent.click(rows[1] ?? document.body);
    expect(rows.map((row) => row.getAttribute("aria-pressed"))).toEqual(["false", "true", "false"]);
  });
});
