import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

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

function shown(clips: ClipCache): void {
  const trajectory = { kind: "clips" as const, index: 3, clips };
  render(<TrajectoryView trajectory={trajectory} group={[trajectory]} playback={new Playback(true)} name="A" />);
}

const message = (): string => document.querySelector(".screen-message")?.textContent ?? "";

describe("a clip", () => {
  it("shows a message when it cannot be played", () => {
    shown(new ClipCache());
    expect(message()).toBe("");
    fireEvent.error(document.querySelector("video") ?? screen.getByRole("img"));
    expect(message()).toContain("could not be played. Skip this question");
  });

  it("shows a message when it failed while it was prefetched", () => {
    const clips = new ClipCache();
    clips.prefetch([3]);
    vi.spyOn(HTMLMediaElement.prototype, "error", "get").mockReturnValue({} as MediaError);
    shown(clips);
    expect(message()).toContain("could not be played. Skip this question");
  });
});
