import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { PendingRequests } from "../src/pending";
import { Server } from "../src/server";
import { Session } from "../src/session";
import { type FakeResponse, type Call, fakeFetch, NETWORK_ERROR, rejection, sessionState } from "./fakes";

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

function sessionWith(...responses: FakeResponse[]): { session: Session; calls: Call[] } {
  const { fetcher, calls } = fakeFetch(...responses);
  return { session: new Session(new Server(undefined, fetcher), new PendingRequests(localStorage, "me")), calls };
}

describe("a session", () => {
  it("shows the next question after an answer", async () => {
    const { session } = sessionWith({ body: sessionState() }, { body: sessionState({ answered: 1, question: { id: 2, number: 2, items: [3, 4], value: null, unit: null, by_hand: false, kind: "pair" } }) });
    await session.open();
    await session.answer(1, "left", 2.5);
    expect(session.state.value?.question?.id).toBe(2);
    expect(session.blocked.value).toBe(false);
  });

  it("names a reason at once, without waiting, and takes it back if the server refuses it", async () => {
    const reasons = { question: 1, reasons: [{ feature: "speed", better: "higher" as const }], named: null };
    const state = sessionState({ answered: 1, reasons });
    const { session, calls } = sessionWith({ body: state }, { body: state }, rejection(409, "not-answered", "Too late."));
    await session.open();
    const named = (): string | null | undefined => session.state.value?.reasons?.named;
    session.giveReason("speed");
    expect([named(), session.blocked.value]).toEqual(["speed", false]);
    session.giveReason("speed");
    expect(named()).toBe(null);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.slice(1).map(({ body }) => body?.feature)).toEqual(["speed", null]);
    expect([named(), session.notice.value]).toEqual(["speed", "Too late."]);
  });

  it("ignores a second click while the first is in progress", async () => {
    const { session, calls } = sessionWith({ body: sessionState() });
    await Promise.all([session.answer(1, "left", 1), session.answer(1, "right", 1)]);
    expect(calls.length).toBe(1);
  });

  it("says that the answer is saved while the server is unavailable, and continues by itself", async () => {
    const { session } = sessionWith({ body: sessionState() }, NETWORK_ERROR, NETWORK_ERROR, { body: sessionState({ answered: 1 }) });
    await session.open();
    const answered = session.answer(1, "left", 1);
    await vi.advanceTimersByTimeAsync(100);
    expect(session.problem.value).toEqual({
      kind: "unavailable",
      message: "The server is not responding. Your answer is saved in this browser and will be sent as soon as it responds.",
    });
    expect(session.blocked.value).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    await answered;
    expect([session.problem.value, session.state.value?.answered, session.blocked.value]).toEqual([null, 1, false]);
  });

  it("first sends what a reload interrupted", async () => {
    const before = sessionWith(NETWORK_ERROR);
    void before.session.answer(1, "left", 1);
    await vi.advanceTimersByTimeAsync(0);
    const after = sessionWith({ body: sessionState({ answered: 1 }) });
    await after.session.open();
    expect(after.calls.map(({ path }) => path)).toEqual(["/api/session/events", "/api/session"]);
    expect(after.calls[0]?.body).toEqual(before.calls[0]?.body);
  });

  it("loads the state after a conflict with another window", async () => {
    const { session, calls } = sessionWith(rejection(409, "already-answered"), { body: sessionState({ answered: 5 }) });
    await session.answer(1, "left", 1);
    expect(session.notice.value).toContain("already answered");
    expect(session.state.value?.answered).toBe(5);
    expect(calls.at(-1)?.path).toBe("/api/session");
    expect(session.problem.value).toBeNull();
  });

  it("offers to try again after other errors", async () => {
    const { session, calls } = sessionWith(rejection(500, "oops", "It broke."), { body: sessionState({ answered: 1 }) });
    await session.answer(1, "left", 1);
    const problem = session.problem.value;
    expect(problem).toMatchObject({ kind: "failed", message: "It broke." });
    if (problem?.kind === "failed") problem.retry();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ path }) => path)).toEqual(["/api/session/events", "/api/session/events", "/api/session"]);
    expect([session.problem.value, session.state.value?.answered]).toEqual([null, 1]);
  });

  it("can discard an answer that the server never accepts", async () => {
    const { session, calls } = sessionWith(rejection(500, "oops"), { body: sessionState() });
    await session.answer(1, "left", 1);
    if (session.problem.value?.kind === "failed") session.problem.value.discard?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ path }) => path)).toEqual(["/api/session/events", "/api/session"]);
  });

  it("sends every kind of request", async () => {
    const { session, calls } = sessionWith({ body: sessionState({ undoable: 6 }) });
    await session.open();
    await session.undo();
    await session.submit("consent", { agreed: true });
    await session.change(7, "delete");
    expect(calls.slice(1).map(({ path, body }) => [path, { ...body, key: "" }])).toEqual([
      ["/api/session/undo", { key: "", question: 6 }],
      ["/api/session/stages", { key: "", stage: "consent", data: { agreed: true } }],
      ["/api/history", { key: "", question: 7, kind: "delete" }],
    ]);
  });

  it("names itself in every request, and keeps what was meant for it when somebody else is signed in", async () => {
    const { fetcher, calls } = fakeFetch(rejection(409, "another-session", "This browser is signed in as P2 now."));
    const reload = vi.fn();
    const pending = new PendingRequests(localStorage, "mine");
    const session = new Session(new Server(undefined, fetcher), pending, reload);
    await session.answer(1, "left", 1);
    expect(calls.map(({ path, session }) => [path, session])).toEqual([["/api/session/events", "mine"]]);
    expect(session.problem.value).toMatchObject({ kind: "failed", message: "This browser is signed in as P2 now.", discard: null });
    expect(pending.all().length).toBe(1);
    if (session.problem.value?.kind === "failed") session.problem.value.retry();
    expect(reload).toHaveBeenCalled();
  });
});
