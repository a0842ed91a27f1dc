import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { RejectedError, retryDelay, Server, UnavailableError, withRetries } from "../src/server";
import { fakeFetch, NETWORK_ERROR, rejection } from "./fakes";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const serverThat = (...responses: Parameters<typeof fakeFetch>): Server => new Server(undefined, fakeFetch(...responses).fetcher);

describe("a request", () => {
  it("returns the body", async () => {
    expect(await serverThat({ body: { role: null } }).get("/api/me")).toEqual({ role: null });
  });

  it("fills in the parameters of its path", async () => {
    const { fetcher, calls } = fakeFetch({});
    await new Server(undefined, fetcher).get("/api/trajectories/{index}", { index: 7 });
    expect(calls.map(({ path }) => path)).toEqual(["/api/trajectories/7"]);
  });

  it("posts JSON", async () => {
    const { fetcher, calls } = fakeFetch({});
    await new Server(undefined, fetcher).post("/api/session/undo", { key: "k", question: 3 });
    expect(calls).toMatchObject([{ method: "POST", path: "/api/session/undo", body: { key: "k", question: 3 } }]);
  });

  it("is rejected with the server's message", async () => {
    const refused = serverThat(rejection(409, "already-answered", "Done already.")).get("/api/session");
    await expect(refused).rejects.toMatchObject({ status: 409, code: "already-answered", message: "Done already." });
    await expect(refused).rejects.toBeInstanceOf(RejectedError);
  });

  it("is never answered from a cache, which does not know who is signed in", async () => {
    const fetcher = vi.fn(() => Promise.resolve(new Response("{}")));
    await new Server(undefined, fetcher).get("/api/display");
    expect(fetcher).toHaveBeenCalledWith("/api/display", expect.objectContaining({ cache: "no-store" }));
  });

  it("that is rejected shows the message as a sentence", async () => {
    await expect(serverThat(rejection(400, "bad", "choose A or B")).get("/api/session")).rejects.toThrow(/^Choose A or B\.$/);
  });

  it.each([502, 503, 504, 429])("with status %i may succeed later", async (status) => {
    await expect(serverThat({ status }).get("/api/session")).rejects.toBeInstanceOf(UnavailableError);
  });

  it("reads the Retry-After header", async () => {
    const busy = serverThat({ status: 429, headers: { "Retry-After": "7" } }).get("/api/session");
    await expect(busy).rejects.toMatchObject({ retryAfter: 7, status: 429 });
  });

  it.each([
    ["an answer", 8_000, (server: Server) => server.post("/api/enter", { secret: "s" })],
    ["what the server computes", 60_000, (server: Server) => server.get("/api/learning-summary")],
  ])("gives up waiting for %s after %d milliseconds", async (_, milliseconds, send) => {
    const never = ((_: string, { signal }: RequestInit) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))))) as typeof fetch;
    const failed = vi.fn();
    const call = send(new Server(undefined, never)).catch(failed);
    await vi.advanceTimersByTimeAsync(milliseconds - 1);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await call;
    expect(failed).toHaveBeenCalledWith(expect.any(UnavailableError));
  });

  it("reports a 403, except when signing in", async () => {
    const forbidden = vi.fn();
    const server = new Server(forbidden, fakeFetch(rejection(403, "unknown-secret")).fetcher);
    await server.post("/api/enter", { secret: "wrong" }).catch(() => undefined);
    expect(forbidden).not.toHaveBeenCalled();
    await server.get("/api/session").catch(() => undefined);
    expect(forbidden).toHaveBeenCalledOnce();
  });
});

describe("retrying", () => {
  it("waits half a second, then twice as long each time, up to five seconds", () => {
    expect([0, 1, 2, 3, 4, 9].map((tries) => retryDelay(tries, new UnavailableError()))).toEqual([0.5, 1, 2, 4, 5, 5]);
    expect(retryDelay(0, new UnavailableError("", 429, 7))).toBe(7);
  });

  it("continues until the server is available, and reports it", async () => {
    const { fetcher, calls } = fakeFetch(NETWORK_ERROR, { status: 503 }, { body: 42 });
    const server = new Server(undefined, fetcher);
    const report = vi.fn();
    const answer = withRetries(() => server.get("/api/session"), report);
    await vi.advanceTimersByTimeAsync(499);
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(await answer).toBe(42);
    expect(report.mock.calls.map(([problem]) => problem instanceof UnavailableError)).toEqual([true, true, false]);
  });

  it("continues at once when the network is back", async () => {
    const { fetcher } = fakeFetch(NETWORK_ERROR, { body: 42 });
    const answer = withRetries(() => new Server(undefined, fetcher).get("/api/session"), () => undefined);
    await vi.advanceTimersByTimeAsync(10);
    window.dispatchEvent(new Event("online"));
    expect(await answer).toBe(42);
  });

  it("ends when the request is rejected", async () => {
    const server = serverThat(rejection(400, "bad"));
    await expect(withRetries(() => server.get("/api/session"), () => undefined)).rejects.toBeInstanceOf(RejectedError);
  });

  it("ends when it is cancelled", async () => {
    const server = serverThat(NETWORK_ERROR);
    const outcome = expect(withRetries(() => server.get("/api/session"), () => undefined, () => true)).rejects.toBeInstanceOf(UnavailableError);
    await vi.advanceTimersByTimeAsync(1_000);
    await outcome;
  });
});
