import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { openStorage } from "../src/keeping";
import { Drawer, newKey, Outbox } from "../src/outbox";
import { Refused, Server } from "../src/server";
import { type Answer, type Call, GONE, refusal, scripted, sitting } from "./fakes";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const BODY = { question: 1, choice: "left", seconds: 2 };

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

function outboxThat(...answers: Answer[]): { outbox: Outbox; calls: Call[]; drawer: Drawer } {
  const { reach, calls } = scripted(...answers);
  const drawer = new Drawer(localStorage, "me");
  return { outbox: new Outbox(new Server(undefined, reach), drawer, () => undefined), calls, drawer };
}

describe("an answer", () => {
  it("is kept before it is sent, and dropped when it is acknowledged", async () => {
    const drawer = new Drawer(localStorage, "me");
    let kept = -1;
    const reach = (() => {
      kept = drawer.letters().length;
      return Promise.resolve(new Response(JSON.stringify(sitting({ done: 1 }))));
    }) as typeof fetch;
    const outbox = new Outbox(new Server(undefined, reach), drawer, () => undefined);
    expect((await outbox.send("/api/answers", BODY)).done).toBe(1);
    expect([kept, drawer.letters().length]).toEqual([1, 0]);
  });

  it("is sent again with the same key while the server is away", async () => {
    const { outbox, calls, drawer } = outboxThat(GONE, refusal(503, "busy"), { status: 504 }, { body: sitting({ done: 1 }) });
    const sent = outbox.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(600);
    expect(drawer.letters().length).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await sent).done).toBe(1);
    expect(calls.length).toBe(4);
    expect(new Set(calls.map(({ body }) => body?.key)).size).toBe(1);
    expect(calls[0]?.body).toMatchObject(BODY);
    expect(calls[0]?.body?.key).toMatch(UUID);
  });

  it("survives a reload, with its key", async () => {
    const before = outboxThat(GONE);
    void before.outbox.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(0);
    const after = outboxThat({ body: sitting() });
    await after.outbox.flush();
    expect(after.calls).toEqual([before.calls[0]]);
    expect(after.outbox.empty()).toBe(true);
  });

  it("stays with its owner when another person sits down", async () => {
    const { outbox, calls, drawer } = outboxThat(GONE, { body: sitting() });
    const sent = expect(outbox.send("/api/answers", BODY)).rejects.toThrow();
    outbox.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;
    expect([calls.length, drawer.letters().length]).toEqual([1, 1]);
  });

  it("goes out in the order in which it was given", async () => {
    const drawer = new Drawer(localStorage, "me");
    drawer.keep({ key: "b", at: 2, path: "/api/undo", body: {} });
    drawer.keep({ key: "a", at: 1, path: "/api/answers", body: BODY });
    const { outbox, calls } = outboxThat({ body: sitting() });
    await outbox.flush();
    expect(calls.map(({ path }) => path)).toEqual(["/api/answers", "/api/undo"]);
  });

  it("is dropped when another window was quicker", async () => {
    const { outbox, drawer } = outboxThat(refusal(409, "already-answered"));
    await expect(outbox.send("/api/answers", BODY)).rejects.toMatchObject({ code: "already-answered" });
    expect(drawer.letters()).toEqual([]);
  });

  it("of an earlier visit that another window overtook is no trouble", async () => {
    new Drawer(localStorage, "me").keep({ key: "a", at: 1, path: "/api/answers", body: BODY });
    const { outbox } = outboxThat(refusal(409, "already-answered"));
    await outbox.flush();
    expect(outbox.empty()).toBe(true);
  });

  it.each([
    [400, 0],
    [404, 0],
    [403, 1],
    [500, 1],
  ])("after error %i leaves %i letters to try again", async (status, left) => {
    const { outbox, drawer } = outboxThat(refusal(status, "x"));
    await expect(outbox.send("/api/answers", BODY)).rejects.toBeInstanceOf(Refused);
    expect(drawer.letters().length).toBe(left);
  });

  it("waits as long as the server asks", async () => {
    const { outbox, calls } = outboxThat({ status: 429, headers: { "Retry-After": "3" } }, { body: sitting() });
    const sent = outbox.send("/api/answers", BODY);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    await sent;
    expect(calls.length).toBe(2);
  });
});

describe("the drawer", () => {
  it("is one's own", () => {
    new Drawer(localStorage, "me").keep({ key: "a", at: 1, path: "/api/undo", body: {} });
    expect(new Drawer(localStorage, "you").letters()).toEqual([]);
    expect(new Drawer(localStorage, "me").letters().length).toBe(1);
  });

  it("passes over what it cannot read", () => {
    localStorage.setItem("prefero.outbox.me.a", "{");
    expect(new Drawer(localStorage, "me").letters()).toEqual([]);
  });

  it("lets an answer go out also when the storage is full", async () => {
    const full = { length: 0, key: () => null, removeItem: () => undefined, setItem: () => { throw new Error("full"); } };
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { reach } = scripted({ body: sitting({ done: 1 }) });
    const drawer = new Drawer(full as unknown as Storage, "me");
    const outbox = new Outbox(new Server(undefined, reach), drawer, () => undefined);
    expect((await outbox.send("/api/answers", BODY)).done).toBe(1);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it("is memory where the browser offers no storage", () => {
    const storage = openStorage(() => {
      throw new Error("SecurityError");
    });
    new Drawer(storage, "me").keep({ key: "a", at: 1, path: "/api/undo", body: {} });
    expect(new Drawer(storage, "me").letters().length).toBe(1);
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
