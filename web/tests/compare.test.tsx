import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { AnswerKind, SessionState, ShownQuestion } from "../src/api";
import { Compare } from "../src/compare/compare";
import { Server } from "../src/server";
import { Trajectories } from "../src/trajectories";
import { fakeFetch, sessionState } from "./fakes";

const TEXTS = { task_description: "", subject: "" };
const PRACTICE: ShownQuestion = { id: 0, number: 0, items: [0, 1], value: null, unit: null, by_hand: false, kind: "pair" };
const features = [{ name: "speed", unit: "m/s", levels: [], ordered: true, low: 0, high: 2 }];

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function shown(now: SessionState, blocked = false): Promise<{ onAnswer: ReturnType<typeof vi.fn>; onUndo: ReturnType<typeof vi.fn> }> {
  const { fetcher } = fakeFetch({ body: { features: { speed: 1 }, trajectories: [], complete: true } });
  const trajectories = new Trajectories(new Server(undefined, fetcher), { ...TEXTS, kind: "features", features, no_video: "" });
  const onAnswer = vi.fn<(kind: AnswerKind, seconds: number) => void>();
  const onUndo = vi.fn<() => void>();
  const question = now.question ?? PRACTICE;
  await act(async () => {
    render(<Compare state={now} question={question} trajectories={trajectories} blocked={blocked} onAnswer={onAnswer} onUndo={onUndo} />);
    await Promise.all(question.items.map((index) => trajectories.load(index)));
  });
  await act(() => new Promise((resolve) => setTimeout(resolve)));
  return { onAnswer, onUndo };
}

const given = (onAnswer: ReturnType<typeof vi.fn>): string[] => onAnswer.mock.calls.map(([kind]) => kind as string);
const press = (key: string): boolean => fireEvent.keyDown(document.body, { key });
const refusal = (): string => document.querySelector(".refusal")?.textContent ?? "";

describe("kinds that change", () => {
  it("are told in the status line and to screen readers, and the first question is not", async () => {
    const { fetcher } = fakeFetch({ body: { features: { speed: 1 }, trajectories: [], complete: true } });
    const trajectories = new Trajectories(new Server(undefined, fetcher), { ...TEXTS, kind: "features", features, no_video: "" });
    const kinds = ["pair", "rate-3"];
    const rate = { id: 2, number: 2, items: [3], value: null, unit: null, by_hand: false, kind: "rate-3" };
    const levels = { kinds, items: 1, choices: ["1", "2", "3"], words: ["bad", "okay", "good"], ties: false };
    const view = (state: SessionState): ReturnType<typeof Compare> => (
      <Compare state={state} question={state.question ?? PRACTICE} trajectories={trajectories} blocked={false} onAnswer={() => undefined} onUndo={() => undefined} />
    );
    const { rerender, container } = render(view(sessionState({ kinds })));
    expect(container.querySelector(".kind-change")).toBeNull();
    await act(() => rerender(view(sessionState({ ...levels, answered: 1, question: rate }))));
    expect(container.querySelector(".kind-change")?.textContent).toBe("Now: how good is this one?");
    expect(screen.getByText(/Question 2\. Now: how good is this one\?$/)).toBeTruthy();
    expect(container.querySelector(".compare-mixed")).not.toBeNull();
  });
});

describe("comparing", () => {
  it("answers with one key", async () => {
    const { onAnswer, onUndo } = await shown(sessionState());
    for (const key of ["f", "ArrowRight", "e", "s"]) press(key);
    press("z");
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left", "right", "equal", "skip"]);
    expect(onUndo).toHaveBeenCalledOnce();
  });

  it("answers with buttons", async () => {
    const { onAnswer } = await shown(sessionState());
    fireEvent.click(screen.getByRole("button", { name: /^A is better/ }));
    fireEvent.click(screen.getByRole("button", { name: /^About equal/ }));
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left", "equal"]);
    for (const [, seconds] of onAnswer.mock.calls) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  it("tells the strength with Shift, and by buttons", async () => {
    const choices = ["left-much", "left-slightly", "equal", "right-slightly", "right-much"];
    const { onAnswer } = await shown(sessionState({ choices, question: { ...PRACTICE, id: 1, kind: "strength" } }));
    press("f");
    fireEvent.keyDown(document.body, { key: "F", shiftKey: true });
    fireEvent.keyDown(document.body, { key: "ArrowRight", shiftKey: true });
    fireEvent.click(screen.getByRole("button", { name: /^B is slightly better/ }));
    expect(given(onAnswer)).toEqual(["left-slightly", "left-much", "right-much", "right-slightly"]);
  });

  it("chooses the best of three with a number", async () => {
    const question: ShownQuestion = { ...PRACTICE, id: 1, items: [0, 1, 2], kind: "best-of-3" };
    const { onAnswer } = await shown(sessionState({ choices: ["1", "2", "3"], question }));
    for (const key of ["3", "4", "f"]) press(key);
    fireEvent.click(screen.getByRole("button", { name: /^B is the best/ }));
    expect(given(onAnswer)).toEqual(["3", "2"]);
  });

  const ranking = (kind: "rank-3" | "rank-4"): SessionState => {
    const items = kind === "rank-3" ? [0, 1, 2] : [0, 1, 2, 3];
    return sessionState({ choices: [], question: { ...PRACTICE, id: 1, items, kind } });
  };

  it.each([
    ["12", "1>2>3>4", "3"],
    ["31=2", "3>1=2>4", ""],
    ["31=24", "3>1=2>4", ""],
    ["31=2=", "3>1=2=4", ""],
    ["31=2=4", "3>1=2=4", ""],
    ["1234", "1>2>3>4", ""],
    ["12344", "1>2>3>4", ""],
    ["12341", "2>3>4>1", ""],
    ["121", "2>1>3>4", "13"],
    ["=1", "1>2>3>4", "23"],
  ])("ranks with the keys %s, and sends %s with Enter", async (keys, word, more) => {
    const { onAnswer } = await shown(ranking("rank-4"));
    for (const key of Array.from(keys)) await act(() => void press(key));
    if (more) {
      await act(() => void press("Enter"));
      expect(refusal()).toMatch(/^Not taken: \d of 4 have no place yet\.$/);
    }
    for (const key of [...Array.from(more), "Enter"]) await act(() => void press(key));
    expect(given(onAnswer)).toEqual([word]);
    expect(refusal()).toBe("");
  });

  it("keeps a ranking of three complete if the last one, which follows by itself, is chosen too", async () => {
    const { onAnswer } = await shown(ranking("rank-3"));
    for (const key of ["2", "1", "3"]) await act(() => void press(key));
    await act(() => void fireEvent.click(screen.getByRole("button", { name: "C, place 3" })));
    await act(() => void fireEvent.click(screen.getByRole("button", { name: /^This is my order/ })));
    expect(given(onAnswer)).toEqual(["2>1>3"]);
  });

  it("takes nothing while an answer is being sent, and says so", async () => {
    const { onAnswer, onUndo } = await shown(sessionState(), true);
    for (const key of ["f", "j", "e", "s", "z"]) {
      await act(() => void press(key));
      expect(refusal()).toBe("Not taken: your last answer was still being sent.");
    }
    fireEvent.click(screen.getByRole("button", { name: /^A is better/ }));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(onUndo).not.toHaveBeenCalled();
    expect(screen.getByRole("button", { name: /^A is better/ }).getAttribute("aria-disabled")).toBe("true");
  });

  it("says that a place in a ranking is not taken while the last one is being sent", async () => {
    await shown(ranking("rank-3"), true);
    for (const key of ["1", "="]) {
      await act(() => void press(key));
      expect(refusal()).toBe("Not taken: your last answer was still being sent.");
    }
    expect(screen.queryByRole("button", { name: "A, place 1" })).toBeNull();
  });

  it("counts a double click once", async () => {
    const { onAnswer } = await shown(sessionState());
    const button = screen.getByRole("button", { name: /^A is better/ });
    for (const detail of [1, 2]) await act(() => void fireEvent.click(button, { detail }));
    expect(given(onAnswer)).toEqual(["left"]);
    expect(refusal()).toBe("A double click counts once.");
  });

  it("offers only the choices that the server takes", async () => {
    const { onAnswer, onUndo } = await shown(sessionState({ choices: ["left", "right"], can_skip: false, undoable: null }));
    press("e");
    await act(() => void press("s"));
    expect(refusal()).toBe("This question cannot be skipped.");
    await act(() => void press("z"));
    expect(refusal()).toBe("There is nothing to undo.");
    expect(onAnswer).not.toHaveBeenCalled();
    expect(onUndo).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: /equal/ })).toBeNull();
    expect(screen.queryByRole("button", { name: /Skip/ })).toBeNull();
  });

  it("announces the question to screen readers", async () => {
    await shown(sessionState({ answered: 12 }));
    expect(screen.getByRole("status").textContent).toContain("Question 13. A comes first, then B.");
  });

  it("shows features where nothing can be played", async () => {
    await shown(sessionState());
    expect(document.querySelector(".feature-row")?.textContent).toContain("A 1 m/sB 1 m/s");
  });

  it("takes no answers while the keys are shown", async () => {
    const { onAnswer } = await shown(sessionState());
    await act(() => void press("?"));
    const dialog = screen.getByRole("dialog");
    expect(dialog.textContent).toContain("Skip this question");
    expect(dialog.textContent).not.toContain("One frame forward"); // features cannot be played
    fireEvent.keyDown(dialog, { key: "f" });
    expect(onAnswer).not.toHaveBeenCalled();
    await act(() => void fireEvent.keyDown(dialog, { key: "?" }));
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});

describe("clips", () => {
  let frames: FrameRequestCallback[] = [];
  const draw = (): Promise<void> =>
    act(() => {
      const waiting = frames;
      frames = [];
      for (const frame of waiting) frame(performance.now());
    });

  beforeEach(() => {
    frames = [];
    vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => frames.push(frame));
    vi.stubGlobal("cancelAnimationFrame", () => undefined);
    vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
    vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
    vi.spyOn(HTMLMediaElement.prototype, "duration", "get").mockReturnValue(2);
    vi.spyOn(HTMLMediaElement.prototype, "readyState", "get").mockReturnValue(4);
  });
  afterEach(() => void vi.restoreAllMocks());

  async function clips(now: SessionState): Promise<{ onAnswer: ReturnType<typeof vi.fn>; show: (next: SessionState, key?: string) => Promise<void> }> {
    const { fetcher } = fakeFetch({ body: { trajectories: [], complete: true, state: "failed", frames: 0, total: null, problem: "episode 7: the recording is cut short" } });
    const trajectories = new Trajectories(new Server(undefined, fetcher), { ...TEXTS, kind: "clips", features: [] });
    const onAnswer = vi.fn<(kind: AnswerKind, seconds: number) => void>();
    const view = (state: SessionState): ReturnType<typeof Compare> => (
      <Compare state={state} question={state.question ?? PRACTICE} trajectories={trajectories} blocked={false} onAnswer={onAnswer} onUndo={() => undefined} />
    );
    let show: (state: SessionState) => void = () => undefined;
    await act(() => {
      const { rerender } = render(view(now));
      show = (state) => rerender(view(state));
    });
    await act(() => new Promise((resolve) => setTimeout(resolve)));
    const showThenPress = (next: SessionState, key = ""): Promise<void> =>
      act(() => new Promise((resolve) => (show(next), press(key), setTimeout(resolve)))); // the key comes before the effects
    return { onAnswer, show: showThenPress };
  }
  const asked = (id: number, watch_to_end = true): SessionState =>
    sessionState({ watch_to_end, question: { id, number: id, items: [2 * id, 2 * id + 1], value: null, unit: null, by_hand: false, kind: "pair" } });
  const waiting = (): string => document.querySelector(".waiting")?.textContent ?? "";

  it("are answered by a teacher as soon as they run, and not before", async () => {
    const { onAnswer } = await clips(asked(1, false));
    const load = vi.spyOn(HTMLMediaElement.prototype, "readyState", "get").mockReturnValue(0);
    await draw();
    await act(() => void press("f"));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(refusal()).toBe("Not taken: the question was still loading.");
    load.mockReturnValue(4);
    await draw();
    expect(waiting()).toBe("");
    press("f");
    expect(given(onAnswer)).toEqual(["left"]);
  });

  it("are answered at once after they were skipped through", async () => {
    const { onAnswer } = await clips(asked(1));
    await draw();
    await act(() => void press("l"));
    press("f"); // before the next frame
    expect(given(onAnswer)).toEqual(["left"]);
  });

  it("are skipped through by a key that comes before they are loaded", async () => {
    const load = vi.spyOn(HTMLMediaElement.prototype, "readyState", "get").mockReturnValue(0);
    const { onAnswer } = await clips(asked(1));
    await act(() => void press("l"));
    await act(() => void press("f"));
    expect(given(onAnswer)).toEqual([]);
    load.mockReturnValue(4);
    await draw();
    press("f");
    expect(given(onAnswer)).toEqual(["left"]);
  });

  it("of a study are answered only after they were shown to their end or skipped through", async () => {
    const { onAnswer, show } = await clips(asked(1));
    await draw();
    press("f");
    await act(() => void fireEvent.click(document.querySelectorAll(".item .clip-frame")[1] ?? document.body));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(refusal()).toBe("Too early: not taken.");
    expect(waiting()).toContain("Watch both to the end, or skip ahead");
    await act(() => void press("?"));
    expect(screen.getByRole("dialog").textContent).toContain("One frame forward");
    await act(() => void fireEvent.keyDown(screen.getByRole("dialog"), { key: "?" }));
    press("l");
    await draw();
    expect(waiting()).toBe("");
    press("f");
    await show(asked(2));
    await draw();
    press("j");
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left"]);
    await show(asked(1)); // after an undo
    await draw();
    fireEvent.click(document.querySelectorAll(".item .clip-frame")[1] ?? document.body);
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["left", "right"]);
  });

  it("obey a key that is pressed as soon as they are there", async () => {
    const { show } = await clips(asked(1));
    await show(asked(2));
    expect(screen.queryByRole("button", { name: "Play" })).toBeNull();
    await show(asked(1), " ");
    await draw();
    expect(screen.getByRole("button", { name: "Play" })).toBeTruthy();
    await show(asked(2), "l");
    await draw();
    expect(waiting()).toBe("");
  });

  it("that cannot be played are refused with the reason, and can be skipped", async () => {
    const { onAnswer } = await clips(asked(1));
    press("l");
    await draw();
    await act(async () => {
      fireEvent.error(document.querySelectorAll("video")[1] ?? document.body);
      await new Promise((resolve) => setTimeout(resolve));
    });
    expect(document.querySelector(".screen-message")?.textContent).toContain("Episode 7: the recording is cut short.");
    expect(waiting()).toContain("B cannot be played: skip this question");
    press("f");
    expect(onAnswer).not.toHaveBeenCalled();
    press("s");
    expect(onAnswer.mock.calls.map(([kind]) => kind as AnswerKind)).toEqual(["skip"]);
  });
});
