import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { openStorage } from "../src/storage";
import { PendingRequests, newKey, RequestQueue } from "../src/pending";
import { RejectedError, Server } from "../src/server";
import { type Answer, type Call, NETWORK_ERROR, rejection, fakeFetch, sessionState } from "./fakes";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const BODY = { question: 1, choice: "left", seconds: 2 };

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

function queueWith(...answers: Answer[]): { queue: RequestQueue; calls: Call[]; pending: PendingRequests } {
  const { fetcher, calls } = fakeFetch(...answers);
  const pending = new PendingRequests(localStorage, "me");
  return { queue: new RequestQueue(new Server(undefined, fetcher), pending, () => undefined), calls, pending };
}

describe("an answer", () => {
  it("is kept before it is sent, and dropped when it is acknowledged", async () => {
    const pending = new PendingRequests(localStorage, "me");
    let stored = -1;
    const fetcher = (() => {
      stored = pending.requests().length;
      return Promise.resolve(new Response(JSON.stringify(sessionState({ done: 1 }))));
    }) as typeof fetch;
    const queue = new RequestQueue(new Server(undefined, fetcher), pending, () => undefined);
    expect((await queue.send("/api/answers", BODY)).done).toBe(1);
    expect([stored, pending.requests().length]).toEqual([1, 0]);
  });

  it("is sent again with the same key while the server is away", async () => {
    const { queue, calls, pending } = queueWith(NETWORK_ERROR, rejection(503, "busy"), { status: 504 }, { body: sessionState({ done: 1 }) });
    const sent = queue.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(600);
    expect(pending.requests().length).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await sent).done).toBe(1);
    expect(calls.length).toBe(4);
    expect(new Set(calls.map(({ body }) => body?.key)).size).toBe(1);
    expect(calls[0]?.body).toMatchObject(BODY);
    expect(calls[0]?.body?.key).toMatch(UUID);
  });

  it("survives a reload, with its key", async () => {
    const before = queueWith(NETWORK_ERROR);
    void before.queue.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(0);
    const after = queueWith({ body: sessionState() });
    await after.queue.sendPending();
    expect(after.calls).toEqual([before.calls[0]]);
    expect(after.queue.isEmpty()).toBe(true);
  });

  it("stays with its owner when another person sits down", async () => {
    const { queue, calls, pending } = queueWith(NETWORK_ERROR, { body: sessionState() });
    const sent = expect(queue.send("/api/answers", BODY)).rejects.toThrow();
    queue.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;
    expect([calls.length, pending.requests().length]).toEqual([1, 1]);
  });

  it("goes out in the order in which it was given", async () => {
    const pending = new PendingRequests(localStorage, "me");
    pending.add({ key: "b", at: 2, path: "/api/undo", body: {} });
    pending.add({ key: "a", at: 1, path: "/api/answers", body: BODY });
    const { queue, calls } = queueWith({ body: sessionState() });
    await queue.sendPending();
    expect(calls.map(({ path }) => path)).toEqual(["/api/answers", "/api/undo"]);
  });

  it("is dropped when another window was quicker", async () => {
    const { queue, pending } = queueWith(rejection(409, "already-answered"));
    await expect(queue.send("/api/answers", BODY)).rejects.toMatchObject({ code: "already-answered" });
    expect(pending.requests()).toEqual([]);
  });

  it("of an earlier visit that another window overtook is no trouble", async () => {
    new PendingRequests(localStorage, "me").add({ key: "a", at: 1, path: "/api/answers", body: BODY });
    const { queue } = queueWith(rejection(409, "already-answered"));
    await queue.sendPending();
    expect(queue.isEmpty()).toBe(true);
  });

  it.each([
    [400, 0],
    [404, 0],
    [403, 1],
    [500, 1],
  ])("after error %i leaves %i letters to try again", async (status, left) => {
    const { queue, pending } = queueWith(rejection(status, "x"));
    await expect(queue.send("/api/answers", BODY)).rejects.toBeInstanceOf(RejectedError);
    expect(pending.requests().length).toBe(left);
  });

  it("waits as long as the server asks", async () => {
    const { queue, calls } = queueWith({ status: 429, headers: { "Retry-After": "3" } }, { body: sessionState() });
    const sent = queue.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    await sent;
    expect(calls.length).toBe(2);
  });
});

describe("the drawer", () => {
  it("is one's own", () => {
    new PendingRequests(localStorage, "me").add({ key: "a", at: 1, path: "/api/undo", body: {} });
    expect(new PendingRequests(localStorage, "you").requests()).toEqual([]);
    expect(new PendingRequests(localStorage, "me").requests().length).toBe(1);
  });

  it("passes over what it cannot read", () => {
    localStorage.setItem("prefero.outbox.me.a", "{");
    expect(new PendingRequests(localStorage, "me").requests()).toEqual([]);
  });

  it("lets an answer go out also when the storage is full", async () => {
    const full = { length: 0, key: () => null, removeItem: () => undefined, setItem: () => { throw new Error("full"); } };
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { fetcher } = fakeFetch({ body: sessionState({ done: 1 }) });
    const pending = new PendingRequests(full as unknown as Storage, "me");
    const queue = new RequestQueue(new Server(undefined, fetcher), pending, () => undefined);
    expect((await queue.send("/api/answers", BODY)).done).toBe(1);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it("is memory where the browser offers no storage", () => {
    const storage = openStorage(() => {
      throw new Error("SecurityError");
    });
    new PendingRequests(storage, "me").add({ key: "a", at: 1, path: "/api/undo", body: {} });
    expect(new PendingRequests(storage, "me").requests().length).toBe(1);
  });
});

describe("a key", () => {
  it("is a UUID, also for pages that came over plain HTTP", () => {
    const plain = { getRandomValues: crypto.getRandomValues.bind(crypto) };
    const keys = Array.from({ length: 50 }, () => newKey(plain));
    for (const key of keys) expect(key).toMatch(UUID);
    expect(new Set(keys).size).toBe(50);
  });
});
