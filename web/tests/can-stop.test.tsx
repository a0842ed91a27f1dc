import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { StopAdvice } from "../src/api";
import { Server } from "../src/server";
import { MemoryStorage } from "../src/storage";
import { CanStop, isNews, wordsOf } from "../src/teach/can-stop";
import { fakeFetch, sessionState } from "./fakes";

const advice: StopAdvice = { can_stop: true, answers: 24, accuracy: { mean: 0.82, low: 0.74, high: 0.88 }, gain: 0.004, ahead: 5 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

async function show(answered: number, body: StopAdvice, storage = new MemoryStorage()): Promise<{ calls: unknown[]; storage: Storage }> {
  const { fetcher, calls } = fakeFetch({ body });
  render(<CanStop state={sessionState({ answered })} server={new Server(undefined, fetcher)} storage={storage} onFinish={() => undefined} />);
  await act(async () => {
    await vi.advanceTimersByTimeAsync(5000);
  });
  return { calls, storage };
}

describe("that one can stop", () => {
  it("is said with the numbers behind it", async () => {
    await show(24, advice);
    expect(screen.getByRole("status").textContent).toContain("You can stop now. After 24 answers");
    expect(wordsOf(advice)).toContain("82% of your answers are expected to be predicted, probably between 74% and 88%. 5 more would add about 0.4 percentage points");
  });

  it("is not asked for after a few answers, and not said while more answers help", async () => {
    expect((await show(9, advice)).calls).toEqual([]);
    await show(24, { ...advice, can_stop: false });
    expect(screen.queryByRole("status")).toBeNull();
  });

  it("is not said again after somebody chose to continue, also after a reload", async () => {
    const { storage } = await show(24, advice);
    fireEvent.click(screen.getByRole("button", { name: "Continue answering" }));
    expect(screen.queryByRole("status")).toBeNull();
    cleanup();
    await show(25, { ...advice, answers: 25 }, storage as MemoryStorage);
    expect(screen.queryByRole("status")).toBeNull();
  });

  it("is news again after many more answers, or when the accuracy has changed much", () => {
    const before = { answers: 24, accuracy: 0.82 };
    expect(isNews(advice, null)).toBe(true);
    expect(isNews({ ...advice, answers: 43 }, before)).toBe(false);
    expect(isNews({ ...advice, answers: 44 }, before)).toBe(true);
    expect(isNews({ ...advice, answers: 30, accuracy: { ...advice.accuracy, mean: 0.88 } }, before)).toBe(true);
    expect(isNews({ ...advice, answers: 20, accuracy: { ...advice.accuracy, mean: 0.7 } }, before)).toBe(false);
  });
});
