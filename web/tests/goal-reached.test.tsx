import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Server } from "../src/server";
import { FinishOrContinue, GoalReached, isGoalReached, Outlook } from "../src/teach/goal-reached";
import { fakeFetch, sessionState } from "./fakes";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const reached = sessionState({ answered: 12, accuracy: 0.91, goal: 0.9 });

describe("the goal", () => {
  it("is reached at the share that was wanted, not before, and not without a goal", () => {
    const states = [reached, { ...reached, accuracy: 0.9 }, { ...reached, accuracy: 0.8999 }, { ...reached, accuracy: null }, { ...reached, goal: null }];
    expect(states.map(isGoalReached)).toEqual([true, true, false, false, false]);
  });

  it("says why nothing more is asked, how sure that is, and offers to go on", async () => {
    const summary = { accuracy: { mean: 0.91, low: 0.82, high: 0.96 }, hint: "Five more answers would add hardly anything." };
    vi.stubGlobal("fetch", fakeFetch({ body: summary }).fetcher);
    const [onFinish, onContinue] = [vi.fn(), vi.fn()];
    if (!isGoalReached(reached)) throw new Error("it is reached");
    render(
      <GoalReached state={reached}>
        <Outlook server={new Server()} answered={reached.answered} />
        <FinishOrContinue onFinish={onFinish} onContinue={onContinue} />
      </GoalReached>,
    );
    screen.getByText("It is expected to predict 91% of your answers, and you wanted 90%. So it stopped asking after 12 answers.");
    await screen.findByText("The true fraction is probably between 82% and 96%. Five more answers would add hardly anything.");
    fireEvent.click(screen.getByText("Finish"));
    fireEvent.click(screen.getByText("Continue answering"));
    expect([onFinish.mock.calls.length, onContinue.mock.calls.length]).toEqual([1, 1]);
  });
});
