import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Clips } from "../src/playing/clips";
import { Playback } from "../src/playing/playback";
import { Screen } from "../src/playing/screen";

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function shown(clips: Clips): void {
  const act = { kind: "clips" as const, index: 3, clips };
  render(<Screen act={act} among={[act]} playback={new Playback(true)} name="A" />);
}

const words = (): string => document.querySelector(".screen-words")?.textContent ?? "";

describe("a clip on the screen", () => {
  it("says so when it cannot be played", () => {
    shown(new Clips());
    expect(words()).toBe("");
    fireEvent.error(document.querySelector("video") ?? screen.getByRole("img"));
    expect(words()).toContain("could not be played. Skip this pair");
  });

  it("says so when that was found out while it was loaded ahead", () => {
    const clips = new Clips();
    clips.prefetch([3]);
    vi.spyOn(HTMLMediaElement.prototype, "error", "get").mockReturnValue({} as MediaError);
    shown(clips);
    expect(words()).toContain("could not be played. Skip this pair");
  });
});
