import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { newKey, PendingRequests, RequestQueue } from "../src/pending";
import { RejectedError, Server } from "../src/server";
import { openStorage } from "../src/storage";
import { type FakeResponse, type Call, fakeFetch, NETWORK_ERROR, rejection, sessionState } from "./fakes";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const BODY = { question: 1, kind: "left", seconds: 2 } as const;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

function queueWith(...responses: FakeResponse[]): { queue: RequestQueue; calls: Call[]; pending: PendingRequests } {
  const { fetcher, calls } = fakeFetch(...responses);
  const pending = new PendingRequests(localStorage, "me");
  return { queue: new RequestQueue(new Server(undefined, fetcher), pending, () => undefined), calls, pending };
}

describe("a request", () => {
  it("is stored before it is sent, and removed when it is acknowledged", async () => {
    const pending = new PendingRequests(localStorage, "me");
    let stored = -1;
    const fetcher = (() => {
      stored = pending.all().length;
      return Promise.resolve(new Response(JSON.stringify(sessionState({ answered: 1 }))));
    }) as typeof fetch;
    const queue = new RequestQueue(new Server(undefined, fetcher), pending, () => undefined);
    expect((await queue.send("/api/session/events", BODY)).answered).toBe(1);
    expect([stored, pending.all().length]).toEqual([1, 0]);
  });

  it("is sent again with the same key while the server is unavailable", async () => {
    const { queue, calls, pending } = queueWith(NETWORK_ERROR, rejection(503, "busy"), { status: 504 }, { body: sessionState({ answered: 1 }) });
    const sent = queue.send("/api/session/events", BODY);
    await vi.advanceTimersByTimeAsync(600);
    expect(pending.all().length).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await sent).answered).toBe(1);
    expect(calls.length).toBe(4);
    expect(new Set(calls.map(({ body }) => body?.key)).size).toBe(1);
    expect(calls[0]?.body).toMatchObject(BODY);
    expect(calls[0]?.body?.key).toMatch(UUID);
  });

  it("survives a reload, with its key", async () => {
    const before = queueWith(NETWORK_ERROR);
    void before.queue.send("/api/session/events", BODY);
    await vi.advanceTimersByTimeAsync(0);
    const after = queueWith({ body: sessionState() });
    await after.queue.sendPending();
    expect(after.calls).toEqual([before.calls[0]]);
    expect(after.queue.isEmpty()).toBe(true);
  });

  it("stays stored when another person signs in", async () => {
    const { queue, calls, pending } = queueWith(NETWORK_ERROR, { body: sessionState() });
    const sent = expect(queue.send("/api/session/events", BODY)).rejects.toThrow();
    queue.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;
    expect([calls.length, pending.all().length]).toEqual([1, 1]);
  });

  it("is sent in the order in which it was made", async () => {
    const pending = new PendingRequests(localStorage, "me");
    pending.add({ key: "b", at: 2, path: "/api/session/undo", body: {} });
    pending.add({ key: "a", at: 1, path: "/api/session/events", body: BODY });
    const { queue, calls } = queueWith({ body: sessionState() });
    await queue.sendPending();
    expect(calls.map(({ path }) => path)).toEqual(["/api/session/events", "/api/session/undo"]);
  });

  it("is removed after a conflict with another window", async () => {
    const { queue, pending } = queueWith(rejection(409, "already-answered"));
    await expect(queue.send("/api/session/events", BODY)).rejects.toMatchObject({ code: "already-answered" });
    expect(pending.all()).toEqual([]);
  });

  it("of an earlier visit may be in conflict with another window", async () => {
    new PendingRequests(localStorage, "me").add({ key: "a", at: 1, path: "/api/session/events", body: BODY });
    const { queue } = queueWith(rejection(409, "already-answered"));
    await queue.sendPending();
    expect(queue.isEmpty()).toBe(true);
  });

  it.each([
    [400, 0],
    [404, 0],
    [403, 1],
    [500, 1],
  ])("with error %i leaves %i stored requests", async (status, left) => {
    const { queue, pending } = queueWith(rejection(status, "x"));
    await expect(queue.send("/api/session/events", BODY)).rejects.toBeInstanceOf(RejectedError);
    expect(pending.all().length).toBe(left);
  });

  it("waits as long as the server asks", async () => {
    const { queue, calls } = queueWith({ status: 429, headers: { "Retry-After": "3" } }, { body: sessionState() });
    const sent = queue.send("/api/session/events", BODY);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    await sent;
    expect(calls.length).toBe(2);
  });
});

describe("stored requests", () => {
  it("belong to one person", () => {
    new PendingRequests(localStorage, "me").add({ key: "a", at: 1, path: "/api/session/undo", body: {} });
    expect(new PendingRequests(localStorage, "you").all()).toEqual([]);
    expect(new PendingRequests(localStorage, "me").all().length).toBe(1);
  });

  it("are skipped if they cannot be read", () => {
    localStorage.setItem("prefero.pending.me.a", "{");
    expect(new PendingRequests(localStorage, "me").all()).toEqual([]);
  });

  it("are sent even when the storage is full", async () => {
    const full = { length: 0, key: () => null, removeItem: () => undefined, setItem: () => { throw new Error("full"); } };
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { fetcher } = fakeFetch({ body: sessionState({ answered: 1 }) });
    const pending = new PendingRequests(full as unknown as Storage, "me");
    const queue = new RequestQueue(new Server(undefined, fetcher), pending, () => undefined);
    expect((await queue.send("/api/session/events", BODY)).answered).toBe(1);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it("are in memory where the browser has no storage", () => {
    const storage = openStorage(() => {
      throw new Error("SecurityError");
    });
    new PendingRequests(storage, "me").add({ key: "a", at: 1, path: "/api/session/undo", body: {} });
    expect(new PendingRequests(storage, "me").all().length).toBe(1);
  });
});

describe("a key", () => {
  it("is a UUID, even on pages served over plain HTTP", () => {
    const plain = { getRandomValues: crypto.getRandomValues.bind(crypto) };
    const keys = Array.from({ length: 50 }, () => newKey(plain));
    for (const key of keys) expect(key).toMatch(UUID);
    expect(new Set(keys).size).toBe(50);
  });
});
