import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Desk } from "../src/desk";
import { Drawer } from "../src/outbox";
import { Server } from "../src/server";
import { type Answer, type Call, GONE, refusal, scripted, sitting } from "./fakes";

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

function deskThat(...answers: Answer[]): { desk: Desk; calls: Call[] } {
  const { reach, calls } = scripted(...answers);
  return { desk: new Desk(new Server(undefined, reach), new Drawer(localStorage, "me")), calls };
}

describe("the desk", () => {
  it("shows the next pair after an answer", async () => {
    const { desk } = deskThat({ body: sitting() }, { body: sitting({ done: 1, question: { id: 2, left: 3, right: 4 } }) });
    await desk.open();
    await desk.answer(1, "left", 2.5);
    expect(desk.sitting.value?.question?.id).toBe(2);
    expect(desk.blocked.value).toBe(false);
  });

  it("ignores a second click while the first is under way", async () => {
    const { desk, calls } = deskThat({ body: sitting() });
    await Promise.all([desk.answer(1, "left", 1), desk.answer(1, "right", 1)]);
    expect(calls.length).toBe(1);
  });

  it("says that the answer is kept while the server is away, and goes on by itself", async () => {
    const { desk } = deskThat({ body: sitting() }, GONE, GONE, { body: sitting({ done: 1 }) });
    await desk.open();
    const answered = desk.answer(1, "left", 1);
    await vi.advanceTimersByTimeAsync(100);
    expect(desk.trouble.value).toEqual({
      kind: "away",
      words: "The server is not answering. Your answer is kept here and will be sent when it is back.",
    });
    expect(desk.blocked.value).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    await answered;
    expect([desk.trouble.value, desk.sitting.value?.done, desk.blocked.value]).toEqual([null, 1, false]);
  });

  it("sends first what a reload interrupted", async () => {
    const before = deskThat(GONE);
    void before.desk.answer(1, "left", 1);
    await vi.advanceTimersByTimeAsync(0);
    const after = deskThat({ body: sitting({ done: 1 }) });
    await after.desk.open();
    expect(after.calls.map(({ path }) => path)).toEqual(["/api/answers", "/api/sitting"]);
    expect(after.calls[0]?.body).toEqual(before.calls[0]?.body);
  });

  it("notices that another window was quicker, and looks again", async () => {
    const { desk, calls } = deskThat(refusal(409, "already-answered"), { body: sitting({ done: 5 }) });
    await desk.answer(1, "left", 1);
    expect(desk.notice.value).toContain("already answered");
    expect(desk.sitting.value?.done).toBe(5);
    expect(calls.at(-1)?.path).toBe("/api/sitting");
    expect(desk.trouble.value).toBeNull();
  });

  it("shows other errors with a way to try again", async () => {
    const { desk, calls } = deskThat(refusal(500, "oops", "It broke."), { body: sitting({ done: 1 }) });
    await desk.answer(1, "left", 1);
    const trouble = desk.trouble.value;
    expect(trouble).toMatchObject({ kind: "failed", words: "It broke." });
    if (trouble?.kind === "failed") trouble.again();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ path }) => path)).toEqual(["/api/answers", "/api/answers", "/api/sitting"]);
    expect([desk.trouble.value, desk.sitting.value?.done]).toEqual([null, 1]);
  });

  it("can go on without an answer that the server never takes", async () => {
    const { desk, calls } = deskThat(refusal(500, "oops"), { body: sitting() });
    await desk.answer(1, "left", 1);
    if (desk.trouble.value?.kind === "failed") desk.trouble.value.discard?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ path }) => path)).toEqual(["/api/answers", "/api/sitting"]);
  });

  it("sends every kind of deed", async () => {
    const { desk, calls } = deskThat({ body: sitting() });
    await desk.undo();
    await desk.step("consent", { agreed: true });
    await desk.change(7, "delete");
    expect(calls.map(({ path, body }) => [path, { ...body, key: "" }])).toEqual([
      ["/api/undo", { key: "" }],
      ["/api/steps", { key: "", stage: "consent", data: { agreed: true } }],
      ["/api/history", { key: "", question: 7, change: "delete" }],
    ]);
  });
});
