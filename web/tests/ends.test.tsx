import { act, cleanup, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Server } from "../src/server";
import { EndClips } from "../src/teach/ends";
import { Trajectories } from "../src/trajectories";
import { fakeFetch } from "./fakes";

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const features = [{ name: "pca 3", unit: "", levels: [], ordered: true, low: 0, high: 2 }];

describe("the ends of a component", () => {
  it("are the trajectories in which it is lowest and highest, by their names", async () => {
    const { fetcher } = fakeFetch({ body: { features: { "pca 3": 1 }, trajectories: [], complete: true } });
    const display = { task_description: "", subject: "", kind: "features" as const, features, no_video: "" };
    const trajectories = new Trajectories(new Server(undefined, fetcher), display);
    const ends = { low: 4, high: 7, low_id: "run 4", high_id: "run 7" };
    await act(async () => {
      render(<EndClips name="pca 3" ends={ends} trajectories={trajectories} />);
      await new Promise((resolve) => setTimeout(resolve));
    });
    await screen.findByText("Lowest: run 4");
    screen.getByText("Highest: run 7");
    expect(screen.getByLabelText("Lowest: run 4, in pca 3")).not.toBeNull();
  });
});
