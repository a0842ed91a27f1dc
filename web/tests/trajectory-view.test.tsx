import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ClipStatus } from "../src/api";
import { ClipCache } from "../src/player/clips";
import { Playback } from "../src/player/playback";
import { TrajectoryView } from "../src/player/trajectory-view";

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const STATUS: ClipStatus = { state: "preparing", frames: 0, total: null, problem: null };
const cache = (status: Partial<ClipStatus>): ClipCache => new ClipCache(() => Promise.resolve({ ...STATUS, ...status }));
const settle = (milliseconds = 0): Promise<void> => act(() => new Promise((resolve) => setTimeout(resolve, milliseconds)));

function shown(clips: ClipCache, onProblem: (problem: string) => void = () => undefined): void {
  const trajectory = { kind: "clips" as const, index: 3, clips: () => clips };
  render(<TrajectoryView trajectory={trajectory} together={[trajectory]} playback={new Playback(true)} name="A" onProblem={onProblem} />);
}

const message = (): string => document.querySelector(".screen-message")?.textContent ?? "";

describe("a clip", () => {
  it("says how far its preparation is, until it is there", async () => {
    shown(cache({ frames: 30, total: 120 }));
    expect(message()).toBe("");
    await settle(450);
    expect(message()).toContain("being prepared");
    expect(message()).toContain("30 of 120 frames");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("25");
    await act(() => void fireEvent.loadedData(document.querySelector("video") ?? document.body));
    expect(message()).toBe("");
  });

  it("says why it cannot be played, also if it failed while it was prefetched", async () => {
    const clips = cache({ state: "failed", problem: "the video arm.mp4 is cut short" });
    clips.prefetch([3]);
    vi.spyOn(HTMLMediaElement.prototype, "error", "get").mockReturnValue({} as MediaError);
    const onProblem = vi.fn<(problem: string) => void>();
    shown(clips, onProblem);
    await settle();
    expect(message()).toContain("The video arm.mp4 is cut short.");
    expect(onProblem).toHaveBeenLastCalledWith("The video arm.mp4 is cut short.");
  });

  it("blames the browser if the file is whole, and can be tried again", async () => {
    shown(cache({ state: "ready" }));
    fireEvent.error(document.querySelector("video") ?? document.body);
    await settle();
    expect(message()).toContain("This browser cannot play the video");
    await act(() => void fireEvent.click(screen.getByRole("button", { name: "Try again" })));
    expect(message()).toBe("");
  });
});
