import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Server } from "../src/server";
import { Kernel, type KernelModel } from "../src/widget/kernel";
import { isForNotebook, keepKeys } from "../src/widget/notebook-keys";
import { followTheme, isBright } from "../src/widget/theme";
import { Widget } from "../src/widget/widget";
import { sessionState } from "./fakes";

interface Sent {
  id: string;
  method: string;
  path: string;
  body: Record<string, unknown> | null;
}

/** A model whose kernel responds with what `respond` says, or not at all. */
class FakeModel implements KernelModel {
  readonly sent: Sent[] = [];
  private readonly listeners = new Set<Parameters<KernelModel["on"]>[1]>();

  constructor(private readonly respond: (request: Sent) => unknown = () => undefined) {}

  send(content: unknown): void {
    const request = content as Sent;
    this.sent.push(request);
    const body = this.respond(request);
    if (body !== undefined) this.receive({ id: request.id, status: 200, body });
  }

  on(_: "msg:custom", listener: Parameters<KernelModel["on"]>[1]): void {
    this.listeners.add(listener);
  }

  off(_: "msg:custom", listener: Parameters<KernelModel["on"]>[1]): void {
    this.listeners.delete(listener);
  }

  receive(content: unknown, buffers: DataView[] = []): void {
    for (const listener of this.listeners) listener(content, buffers);
  }
}

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

describe("the kernel", () => {
  it("gets the requests that a server would get", async () => {
    const model = new FakeModel(({ body }) => ({ answered: body }));
    const server = new Server(undefined, new Kernel(model).fetch);
    await server.post("/api/session/undo", { key: "a-key-of-it", question: 3 });
    expect(model.sent[0]).toMatchObject({ method: "POST", path: "/api/session/undo", body: { key: "a-key-of-it", question: 3 } });
    await server.get("/api/trajectories/{index}", { index: 7 });
    expect(model.sent[1]).toMatchObject({ method: "GET", path: "/api/trajectories/7", body: null });
  });

  it("answers each request by its id, in any order, and those of other views not at all", async () => {
    const model = new FakeModel();
    const kernel = new Kernel(model);
    const responses = [kernel.fetch("/a", {}), kernel.fetch("/b", {})];
    const [first, second] = model.sent;
    model.receive({ id: "of another view", status: 200, body: "no" });
    model.receive({ id: second?.id, status: 409, body: "b" });
    model.receive({ id: first?.id, status: 200, body: "a" });
    const [a, b] = await Promise.all(responses);
    expect([a?.status, await a?.json(), b?.status, await b?.json()]).toEqual([200, "a", 409, "b"]);
  });

  it("sends a clip as bytes, which get an address", async () => {
    const model = new FakeModel();
    const kernel = new Kernel(model);
    const blobs: Blob[] = [];
    const revoke = vi.spyOn(URL, "revokeObjectURL");
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => `blob:${blobs.push(blob as Blob)}`);
    const address = kernel.clip(4);
    const whole = new Uint8Array([0, 0, 1, 2, 3]);
    model.receive({ id: model.sent[0]?.id, status: 200, body: null }, [new DataView(whole.buffer, 2)]);
    expect(await address).toBe("blob:1");
    expect(new Uint8Array((await blobs[0]?.arrayBuffer()) ?? [])).toEqual(new Uint8Array([1, 2, 3]));
    kernel.close();
    expect(revoke).toHaveBeenCalledWith("blob:1");
    vi.restoreAllMocks();
  });

  it("that has no such clip is an error", async () => {
    const model = new FakeModel();
    const address = new Kernel(model).clip(4);
    model.receive({ id: model.sent[0]?.id, status: 404, body: { error: { code: "", message: "" } } });
    await expect(address).rejects.toThrow("no clip 4");
  });

  it("that does not respond is told in its own words", async () => {
    const silent = new Server(undefined, () => Promise.reject(new Error("late")), "The kernel is busy.");
    await expect(silent.get("/api/session")).rejects.toMatchObject({ reason: "The kernel is busy." });
  });
});

describe("keys", () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({ key, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...more });

  it("of the notebook are those to save, to run a cell and to leave", () => {
    const forNotebook = [press("s", { ctrlKey: true }), press("Enter", { shiftKey: true }), press("Escape"), press("Tab"), press("c", { metaKey: true })];
    expect(forNotebook.map((one) => isForNotebook(one, false))).toEqual([true, true, true, true, true]);
    expect([press("d"), press("f"), press("ArrowDown"), press("Enter"), press("M", { shiftKey: true })].some((one) => isForNotebook(one, false))).toBe(false);
    expect(isForNotebook(press("Escape"), true)).toBe(false); // it closes the dialog
  });

  it("that are pressed in the widget do not reach the notebook", () => {
    const host = document.body.appendChild(document.createElement("div"));
    const inside = host.appendChild(document.createElement("div"));
    const notebook = vi.fn();
    document.addEventListener("keydown", notebook);
    const stop = keepKeys(host);
    fireEvent.keyDown(inside, { key: "d" });
    expect(host.getAttribute("data-lm-suppress-shortcuts")).toBe("true");
    expect(notebook).not.toHaveBeenCalled();
    fireEvent.keyDown(inside, { key: "s", ctrlKey: true });
    expect(host.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
    fireEvent.keyDown(document.body, { key: "d" });
    stop();
    fireEvent.keyDown(inside, { key: "d" });
    expect(notebook).toHaveBeenCalledTimes(3);
    document.removeEventListener("keydown", notebook);
  });
});

describe("the theme", () => {
  it("is dark where text is bright", () => {
    expect(["rgb(33, 33, 33)", "rgba(0, 0, 0, 0.87)", "#fff", "rgb(255, 255, 255)", "rgba(229, 231, 235, 0.9)"].map(isBright)).toEqual([false, false, false, true, true]);
  });

  it("changes with that of the notebook", async () => {
    const host = document.body.appendChild(document.createElement("div"));
    document.body.style.color = "rgb(20, 20, 20)";
    const stop = followTheme(host);
    expect(host.dataset.theme).toBe("light");
    document.body.style.color = "rgb(240, 240, 240)";
    await vi.waitFor(() => expect(host.dataset.theme).toBe("dark"));
    stop();
    document.body.removeAttribute("style");
  });
});

describe("the widget", () => {
  const features = [{ name: "speed", unit: "m/s", levels: [], ordered: true, low: 0, high: 2 }];
  const question = { id: 1, number: 1, items: [0, 1], value: 0.5, unit: "bits", by_hand: false, kind: "pair" as const };
  const display = { kind: "features", features, no_video: "", task_description: "Choose.", subject: "" };

  beforeEach(() => {
    vi.stubGlobal("matchMedia", () => ({ matches: false }));
  });

  /** A kernel with a learner that has one more answer after every request. */
  function learning(total = 30): FakeModel {
    let answered = 0;
    return new FakeModel(({ method, path }) => {
      if (path === "/api/display") return display;
      if (path.startsWith("/api/trajectories")) return { features: { speed: 1 }, replay: null };
      if (path.endsWith("prefetch")) return { trajectories: [], complete: true };
      if (method === "POST") answered += path.endsWith("undo") ? -1 : 1;
      return sessionState({ answered, total, question: { ...question, id: answered + 1 }, undoable: answered || null });
    });
  }

  async function shown(model: FakeModel): Promise<HTMLElement> {
    const kernel = new Kernel(model);
    const server = new Server(undefined, kernel.fetch);
    render(<Widget server={server} clipSource={kernel.clip} />);
    await screen.findByText("speed"); // the trajectories are there
    return screen.getByRole("region");
  }

  it("answers with keys that are pressed in it, and with no others", async () => {
    const model = learning();
    const widget = await shown(model);
    fireEvent.keyDown(document.body, { key: "f" });
    fireEvent.keyDown(widget, { key: "f" });
    await screen.findByText("1 of 30");
    fireEvent.keyDown(widget, { key: "z" });
    await screen.findByText("0 of 30");
    const posted = model.sent.filter(({ method }) => method === "POST");
    expect(posted.map(({ path, body }) => [path, body?.kind])).toEqual([
      ["/api/session/events", "left"],
      ["/api/session/undo", undefined],
    ]);
  });

  it("has the focus after a click, also on a button that is gone then", async () => {
    const widget = await shown(learning(1));
    fireEvent.keyDown(widget, { key: "j" });
    const more = await screen.findByText("Continue answering");
    screen.getByText("reward = learner.reward()");
    more.focus();
    await act(() => more.click());
    await vi.waitFor(() => expect(document.activeElement).toBe(widget));
    expect(screen.queryByText("Continue answering")).toBeNull();
  });
});
