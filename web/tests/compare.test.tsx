import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { AnswerKind, SessionState } from "../src/api";
import { Compare } from "../src/compare/compare";
import { Server } from "../src/server";
import { Trajectories } from "../src/trajectories";
import { fakeFetch, sessionState } from "./fakes";

const features = [{ name: "speed", unit: "m/s", low: 0, high: 2 }];

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function shown(now: SessionState, blocked = false): Promise<{ onAnswer: ReturnType<typeof vi.fn>; onUndo: ReturnType<typeof vi.fn> }> {
  const { fetcher } = fakeFetch({ body: { features: { speed: 1 } } });
  const trajectories = new Trajectories(new Server(undefined, fetcher), { kind: "features", features, task_description: "", subject: "" });
  const onAnswer = vi.fn<(kind: AnswerKind, seconds: number) => void>();
  const onUndo = vi.fn<() => void>();
  const question = now.question ?? { id: 1, number: 1, items: [0, 1], value: null, unit: null };
  await act(async () => {
    render(<Compare state={now} question={question} trajectories={trajectories} blocked={blocked} onAnswer={onAnswer} onUndo={onUndo} />);
    await Promise.all(question.items.map((index) => trajectories.load(index)));
  });
  await act(() => new Promise((resolve) => setTimeout(resolve)));
  return { onAnswer, onUndo };
}

const press = (key: string): boolean => fireEvent.keyDown(document.body, { key });

describe("comparing", () => {
  it("answers with one key", async () => {
    const { onAnswer, onUndo } = await shown(sessionState());
    for (const key of ["f", "ArrowRight", "e", "s"]) press(key);
    press("z");
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left", "right", "equal", "skip"]);
    expect(onUndo).toHaveBeenCalledOnce();
  });

  it("answers with buttons, and by clicking a clip", async () => {
    const { onAnswer } = await shown(sessionState());
    fireEvent.click(screen.getByRole("button", { name: /^A is better/ }));
    fireEvent.click(screen.getByRole("button", { name: /^About equal/ }));
    fireEvent.click(document.querySelectorAll(".item .clip-frame")[1] ?? document.body);
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left", "equal", "right"]);
    for (const [, seconds] of onAnswer.mock.calls) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  it("does nothing while an answer is being sent, and shows it", async () => {
    const { onAnswer, onUndo } = await shown(sessionState(), true);
    for (const key of ["f", "j", "e", "s", "z"]) press(key);
    fireEvent.click(screen.getByRole("button", { name: /^A is better/ }));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(onUndo).not.toHaveBeenCalled();
    expect(screen.getByRole("button", { name: /^A is better/ }).getAttribute("aria-disabled")).toBe("true");
  });

  it("offers only the choices that the server takes", async () => {
    const { onAnswer, onUndo } = await shown(sessionState({ choices: ["left", "right"], can_skip: false, can_undo: false }));
    for (const key of ["e", "s", "z"]) press(key);
    expect(onAnswer).not.toHaveBeenCalled();
    expect(onUndo).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: /equal/ })).toBeNull();
    expect(screen.queryByRole("button", { name: /Skip/ })).toBeNull();
  });

  it("announces the question to screen readers", async () => {
    await shown(sessionState({ answered: 12 }));
    expect(screen.getByRole("status").textContent).toContain("Question 13. A is on the left");
  });

  it("shows features as bars where nothing can be played", async () => {
    await shown(sessionState());
    expect(document.querySelectorAll<HTMLElement>(".bar-fill")[0]?.style.width).toBe("50%");
    expect(screen.getAllByText("1 m/s").length).toBe(2);
  });

  it("takes no answers while the keys are shown", async () => {
    const { onAnswer } = await shown(sessionState());
    await act(() => void press("?"));
    const dialog = screen.getByRole("dialog");
    expect(dialog.textContent).toContain("One frame forward");
    fireEvent.keyDown(dialog, { key: "f" });
    expect(onAnswer).not.toHaveBeenCalled();
    await act(() => void fireEvent.keyDown(dialog, { key: "?" }));
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});
