/** The list of sessions, uploads, the menu, hints and themes. */

import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { Auth, sessionIn } from "../src/auth";
import { Server } from "../src/server";
import { NewSessionRequest, type Progress } from "../src/sessions/upload";
import { Hint, HINTS, useHints } from "../src/teach/hints";
import { MenuButton } from "../src/teach/menu";
import { QrCode } from "../src/teach/phone";
import { changedSettings } from "../src/teach/settings";
import { openSession, openView } from "../src/teach/tabs";
import { readTheme, setTheme, theme } from "../src/theme";
import { fakeFetch, rejection } from "./fakes";

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
});
afterEach(cleanup);

const WORKING = { id: "0123456789abcdef", stage: "working", text: "Reading", done: 1, total: 2, name: "", problem: "" };

describe("an upload", () => {
  it("sends every file in chunks, then begins a session and follows it", async () => {
    const { fetcher, calls } = fakeFetch(
      { body: { id: "up", names: ["a.mp4", "b.mp4"], chunk: 4 } },
      ...[4, 6, 3].map((size) => ({ body: { size } })),
      { body: WORKING },
      { body: { ...WORKING, stage: "begun", name: "walks" } },
    );
    const told: Progress[] = [];
    const request = new NewSessionRequest(new Server(undefined, fetcher), (progress) => void told.push(progress));
    const files = [new File(["abcdef"], "a.mp4"), new File(["xyz"], "b.mp4")];
    expect(await request.about(files)).toBe("walks");
    expect(calls.map(({ path }) => path)).toEqual([
      "/api/uploads",
      "/api/uploads/chunk?upload=up&number=0&offset=0",
      "/api/uploads/chunk?upload=up&number=0&offset=4",
      "/api/uploads/chunk?upload=up&number=1&offset=0",
      "/api/sessions",
      "/api/beginnings/0123456789abcdef",
    ]);
    expect(calls[4]?.body).toMatchObject({ upload: "up", world: null });
    expect(told.map(({ done }) => done)).toEqual([0, 4, 6, 1]);
  });

  it("tells why a session could not begin", async () => {
    const { fetcher } = fakeFetch({ body: { ...WORKING, stage: "failed", problem: "a.mp4 is damaged" } });
    const request = new NewSessionRequest(new Server(undefined, fetcher), () => undefined);
    await expect(request.begin({ world: "driver" })).rejects.toThrow("a.mp4 is damaged");
    const refused = new NewSessionRequest(new Server(undefined, fakeFetch(rejection(422, "too-large", "Too much.")).fetcher), () => undefined);
    await expect(refused.about([new File(["a"], "a.csv")])).rejects.toThrow("Too much.");
  });

  it("is deleted on the server when the person cancels", async () => {
    const { fetcher, calls } = fakeFetch({ body: { id: "up", names: ["a.csv"], chunk: 1 } }, { body: { size: 1 } });
    const request: NewSessionRequest = new NewSessionRequest(new Server(undefined, fetcher), ({ done }) => done === 1 && request.cancel());
    await expect(request.about([new File(["abc"], "a.csv")])).rejects.toThrow();
    expect(calls.at(-1)).toMatchObject({ path: "/api/uploads/cancel", body: { upload: "up" } });
  });
});

describe("the session of a window", () => {
  it("is in its URL, which every view keeps", () => {
    openSession("a session");
    openView("learned");
    expect(sessionIn(location.search)).toBe("a session");
    expect(new URLSearchParams(location.search).get("view")).toBe("learned");
    openView("compare");
    expect(location.search).toBe("?session=a+session");
  });

  it("is named by requests, also by those of the browser itself", async () => {
    const me = { role: "teacher", study: "walks", session: "own", manages: true, version: "" };
    const { fetcher, calls } = fakeFetch({ body: me }, { body: { ...me, session: "other" } });
    const auth = new Auth(localStorage, fetcher);
    await auth.start();
    openSession("other");
    auth.followAddress();
    await waitFor(() => expect(auth.me.value?.session).toBe("other"));
    expect(calls[1]).toMatchObject({ path: "/api/me", session: "other" });
    expect(auth.server.addressOf("/api/clips/3.mp4")).toBe("/api/clips/3.mp4?session=other");
    auth.followAddress();
    expect(calls).toHaveLength(2);
  });
});

describe("the hints", () => {
  function Shown() {
    return <Hint {...useHints(localStorage)} />;
  }

  it("come one after the other, once in a browser", () => {
    const { unmount } = render(<Shown />);
    for (const place of HINTS.keys()) {
      expect(screen.getByText(`${place + 1} of 3`)).toBeTruthy();
      fireEvent.click(screen.getByRole("button", { name: place === 2 ? "Got it" : "Next" }));
    }
    expect(screen.queryByRole("region")).toBeNull();
    unmount();
    render(<Shown />);
    expect(screen.queryByRole("region")).toBeNull();
  });
});

describe("the menu", () => {
  it("closes on Esc and on a click elsewhere, and keeps its keys", () => {
    const keys: string[] = [];
    const listen = (event: KeyboardEvent): void => void keys.push(event.key);
    window.addEventListener("keydown", listen);
    render(<MenuButton>{() => <button type="button">An item</button>}</MenuButton>);
    const button = screen.getByRole("button", { name: "Menu" });
    fireEvent.click(button);
    fireEvent.keyDown(screen.getByText("An item"), { key: "f" });
    fireEvent.keyDown(screen.getByText("An item"), { key: "Escape" });
    expect(screen.queryByText("An item")).toBeNull();
    expect(document.activeElement).toBe(button);
    fireEvent.click(button);
    void act(() => void document.body.dispatchEvent(new Event("pointerdown", { bubbles: true })));
    expect(button.getAttribute("aria-expanded")).toBe("false");
    expect(keys).toEqual([]);
    window.removeEventListener("keydown", listen);
  });
});

describe("settings", () => {
  it("are sent as the server takes them", () => {
    const fields = { task: "Be calm.", answers: "rate-3", questions: "12", words: "poor, fair,  good", goal: "90" };
    expect(changedSettings("walks", fields)).toEqual({
      name: "walks",
      task_description: "Be calm.",
      answers: "rate-3",
      questions: 12,
      words: ["poor", "fair", "good"],
      goal: 0.9,
    });
    expect(changedSettings("walks", { ...fields, words: "", goal: " " })).toMatchObject({ words: [], goal: null });
  });
});

describe("a theme", () => {
  it("is remembered, and none is the system's", () => {
    setTheme("dark", localStorage);
    expect(document.documentElement.dataset.theme).toBe("dark");
    readTheme(localStorage);
    expect(theme.value).toBe("dark");
    setTheme("system", localStorage);
    expect(document.documentElement.dataset.theme).toBeUndefined();
    expect(localStorage.length).toBe(0);
  });
});

describe("a QR code", () => {
  it("has a square for each 1, inside a light border", () => {
    const { container } = render(<QrCode rows={["10", "01"]} label="a link" />);
    expect(container.querySelector("path")?.getAttribute("d")).toBe("M4 4h1v1h-1zM5 5h1v1h-1z");
    expect(container.querySelector("svg")?.getAttribute("viewBox")).toBe("0 0 10 10");
    expect(screen.getByRole("img", { name: "A QR code of a link" })).toBeTruthy();
  });
});
