import { cleanup } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import { kindOf } from "../src/compare/registry";
import { commandsOf as commandsAmong, type KeyPress, KEYS, listen } from "../src/keys";

const keyPress = (key: string, changes: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  target: document.body,
  ...changes,
});

const FIVE = { count: 5, choices: ["left", "right", "equal"], ties: true, words: [] };
const ALL = [...kindOf("pair").keys(FIVE), ...kindOf("rank-5").keys(FIVE), ...KEYS];
const commandsOf = (pressed: KeyPress): string[] => commandsAmong(pressed, ALL);

function element(html: string): Element {
  document.body.innerHTML = html;
  const made = document.body.firstElementChild;
  if (!made) throw new Error("no element");
  return made;
}

afterEach(() => {
  cleanup();
  document.body.innerHTML = "";
});

describe("the keys", () => {
  const promised: [string, string][] = [
    ["ArrowLeft", "left"],
    ["f", "left"],
    ["F", "left"],
    ["ArrowRight", "right"],
    ["j", "right"],
    ["ArrowDown", "equal"],
    ["e", "equal"],
    ["1", "1"],
    ["2", "2"],
    ["3", "3"],
    ["4", "4"],
    ["5", "5"],
    ["=", "tie"],
    ["Enter", "submit"],
    ["s", "skip"],
    ["z", "undo"],
    ["Backspace", "undo"],
    ["x", "reason-1"],
    ["c", "reason-2"],
    ["v", "reason-3"],
    [" ", "pause"],
    ["r", "replay"],
    ["l", "end"],
    ["End", "end"],
    [",", "back"],
    [".", "forward"],
    ["[", "slower"],
    ["]", "faster"],
    ["g", "signals"],
    ["t", "note"],
    ["?", "help"],
    ["m", "large"],
    ["w", "swap"],
    ["u", "in-turn"],
    ["o", "loop"],
    ["k", "camera"],
    ["d", "difference"],
    ["i", "values"],
  ];

  it.each(promised)("%j is %s", (key, command) => expect(commandsOf(keyPress(key))).toEqual([command]));

  it("have no others", () => {
    for (const key of ["a", "ArrowUp", "Tab", "Escape", "6"]) expect(commandsOf(keyPress(key))).toEqual([]);
    expect(ALL.flatMap(({ keys }) => keys).length).toBe(new Set(promised.map(([key]) => key.length > 1 ? key : key.toLowerCase())).size);
  });

  it("leave the browser's own shortcuts alone", () => {
    expect(commandsOf(keyPress("f", { ctrlKey: true }))).toEqual([]);
    expect(commandsOf(keyPress("ArrowLeft", { altKey: true }))).toEqual([]);
    expect(commandsOf(keyPress("r", { metaKey: true }))).toEqual([]);
  });

  it("are not commands in text fields", () => {
    for (const html of ["<input>", "<textarea></textarea>", "<select></select>", "<div contenteditable='true'></div>"]) {
      expect(commandsOf(keyPress("f", { target: element(html) }))).toEqual([]);
    }
  });

  it("leave Space to a focused button", () => {
    const target = element("<button>A</button>");
    expect(commandsOf(keyPress(" ", { target }))).toEqual([]);
    expect(commandsOf(keyPress("f", { target }))).toEqual(["left"]);
  });

  it("leave the arrows to radio buttons", () => {
    const target = element("<input type='radio'>");
    expect(commandsOf(keyPress("ArrowLeft", { target }))).toEqual([]);
    expect(commandsOf(keyPress("r", { target }))).toEqual(["replay"]);
  });

  it("do nothing behind a dialog", () => {
    const target = element("<dialog open><button>Close</button></dialog>").firstElementChild;
    expect(commandsOf(keyPress("f", { target }))).toEqual([]);
  });
});

describe("listening", () => {
  const press = (init: KeyboardEventInit): KeyboardEvent => {
    const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
    document.body.dispatchEvent(event);
    return event;
  };

  it("runs the command once, and prevents scrolling", () => {
    const left = vi.fn();
    const stop = listen(() => ({ left }), window, () => ALL);
    expect(press({ key: "ArrowLeft" }).defaultPrevented).toBe(true);
    press({ key: "ArrowRight" });
    stop();
    press({ key: "ArrowLeft" });
    expect(left).toHaveBeenCalledTimes(1);
  });

  it("counts a key that is held down once", () => {
    const left = vi.fn();
    const stop = listen(() => ({ left }), window, () => ALL);
    press({ key: "f" });
    expect(press({ key: "f", repeat: true }).defaultPrevented).toBe(true);
    stop();
    expect(left).toHaveBeenCalledTimes(1);
  });

  it("does not let a held Enter click a button again", () => {
    const button = element("<button>A</button>");
    const stop = listen(() => ({}));
    const held = new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true });
    button.dispatchEvent(held);
    stop();
    expect(held.defaultPrevented).toBe(true);
  });
});
