import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Display } from "../src/api";
import { Server } from "../src/server";
import { TrajectoryDialog } from "../src/teach/trajectory-dialog";
import { Trajectories } from "../src/trajectories";
import { type Call, fakeFetch } from "./fakes";

const speed = { name: "speed", unit: "m/s", levels: [] as string[], ordered: true };
const gripper = { name: "gripper", unit: "", levels: ["wide", "narrow"], ordered: false };

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(display: unknown, id: string | null, onClose = (): void => undefined): Call[] {
  const { fetcher, calls } = fakeFetch({ body: { features: { speed: 2, gripper: 1 }, replay: null } });
  vi.stubGlobal("fetch", fetcher);
  const trajectories = new Trajectories(new Server(), display as Display);
  render(
    <TrajectoryDialog index={3} id={id} trajectories={trajectories} onClose={onClose}>
      <p>What else is known</p>
    </TrajectoryDialog>,
  );
  return calls;
}

describe("the dialog of a trajectory", () => {
  it("has its name, its features with their units, and what else is known", async () => {
    show({ kind: "clips", features: [speed, gripper] }, "run03.mp4");
    expect(screen.getByRole("dialog", { name: "run03.mp4 no. 3" })).toBeTruthy();
    const features = await screen.findByLabelText("Features");
    expect(Array.from(features.children, (row) => row.textContent)).toEqual(["speed2 m/s", "grippernarrow"]);
    expect(screen.getByText("What else is known")).toBeTruthy();
  });

  it("shows features once where nothing can be played, and fetches them once", async () => {
    const calls = show({ kind: "features", no_video: "", features: [{ ...speed, low: 0, high: 4 }] }, null);
    expect((await screen.findByText("speed")).closest(".bar-row")?.textContent).toBe("speed2 m/s");
    expect(screen.queryByLabelText("Features")).toBeNull();
    expect(calls.map(({ path }) => path)).toEqual(["/api/trajectories/3"]);
  });

  it("tells when it is closed", () => {
    const onClose = vi.fn();
    show({ kind: "clips", features: [speed] }, null, onClose);
    fireEvent(screen.getByRole("dialog"), new Event("close"));
    expect(onClose).toHaveBeenCalledOnce();
  });
});
