import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import { changeText, confirmationText, questionText } from "../src/compare/announcements";
import type { Asked, Input } from "../src/compare/kind";
import { choiceName, formOf, type Kind, kindOf } from "../src/compare/registry";

afterEach(cleanup);

const PLACES = ["1", "2", "3"];
const STRENGTHS = ["left-much", "left-slightly", "equal", "right-slightly", "right-much"];
const CHOICES: [Kind, string[]][] = [
  ["pair", ["left", "right", "equal"]],
  ["strength", STRENGTHS],
  ["best-of-3", PLACES],
  ["worst-of-3", PLACES],
  ["rank-3", []],
  ["success", ["fail", "pass"]],
  ["rate-3", PLACES],
  ["pair-or-none", ["left", "right", "equal", "none"]],
  ["best-or-none-3", [...PLACES, "none"]],
];
const WORDS: Record<string, string[]> = { success: ["fail", "pass"], "rate-3": ["bad", "okay", "good"] };
const COUNTS: Record<string, number> = { success: 1, "rate-3": 1, pair: 2, "pair-or-none": 2, strength: 2 };

const asked = (kind: Kind, choices: string[], ties = true): Asked => ({ count: COUNTS[kind] ?? 3, choices, ties, words: WORDS[kind] ?? [] });
const commands = (kind: Kind, choices: string[], ties = true): string[] =>
  kindOf(kind)
    .keys(asked(kind, choices, ties))
    .map(({ command }) => command);

function shown(kind: Kind, choices: string[], ties = true): { answer: ReturnType<typeof vi.fn>; input: Input } {
  const { Input: View } = kindOf(kind);
  const answer = vi.fn<(choice: string) => void>();
  const found: Input[] = [];
  const props = { ...asked(kind, choices, ties), question: 1, blocked: false, last: { action: null, count: 0, kind, words: [] }, answer };
  render(
    <View {...props} refuse={() => undefined} whileOpen={(act) => act()}>
      {(input) => (found.push(input), input.view)}
    </View>,
  );
  const [input] = found;
  if (!input) throw new Error("no input");
  return { answer, input };
}

describe("every kind of answers", () => {
  it.each(CHOICES)("%s has a heading, words for its choices, and a key for each", (kind, choices) => {
    const view = kindOf(kind);
    expect(view.heading("")).toMatch(/^(Which is|Rank them|(How good is|Is) this one)/);
    expect(view.heading("the blue car")).toContain("of the blue car");
    expect(view.touch).toMatch(/^Tap /);
    expect(new Set(choices.map((choice) => view.choiceName(choice, WORDS[kind] ?? []))).size).toBe(choices.length);
    expect(commands(kind, choices)).toEqual(expect.arrayContaining(choices));
    const keys = view.keys(asked(kind, choices)).flatMap((key) => key.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(CHOICES.filter(([, choices]) => choices.length > 0))("%s sends the choice of each of its buttons", (kind, choices) => {
    const { answer } = shown(kind, choices);
    for (const button of screen.getAllByRole("button")) fireEvent.click(button);
    expect(answer.mock.calls.flat().sort()).toEqual([...choices].sort());
  });

  it("is found by the first word of its name", () => {
    expect([formOf("pair"), formOf("worst-of-4")]).toEqual(["pair", "worst"]);
    expect([formOf("rate-5"), formOf("best-or-none-3")]).toEqual(["rate", "best"]);
  });

  it("of another package, without a file, has a button and a key for each choice", () => {
    const { answer } = shown("guess-2", ["both", "neither"]);
    for (const button of screen.getAllByRole("button")) fireEvent.click(button);
    expect(answer.mock.calls.flat()).toEqual(["both", "neither"]);
    expect(commands("guess-2", ["both", "neither"])).toEqual(["both", "neither"]);
    expect(kindOf("guess-2").heading("the blue car")).toContain("of the blue car");
    expect(choiceName("both", "guess-2", [])).toBe("both");
  });
});

describe("a question", () => {
  it("is announced with the places of its items", () => {
    expect(questionText({ stage: "compare", answered: 4 }, "pair", 2)).toMatch(/^Question 5\. A comes first, then B\. Which is better\?$/);
    expect(questionText({ stage: "practice", answered: 0 }, "best-of-3", 3)).toMatch(/^A practice question\. A to C .* Which is the best\?$/);
    expect(kindOf("rank-4").heading("")).toBe("Rank them, the best first");
    expect(kindOf("strength").heading("")).toBe("Which is better, and by how much?");
    expect(kindOf("pair").heading("the blue car")).toBe("Which motion of the blue car is better?");
  });

  it("has the answers that the server takes", () => {
    shown("pair", ["left", "right"]);
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["A is better←F", "B is better→J"]);
    cleanup();
    shown("worst-of-3", PLACES);
    expect(screen.getByRole("button", { name: /^C is the worst/ })).toBeTruthy();
  });

  it("has keys of its own", () => {
    expect(commands("pair", ["left", "right"])).toEqual(["left", "right"]);
    expect(commands("rank-3", [])).toEqual(["1", "2", "3", "tie", "submit"]);
    expect(commands("rank-3", [], false)).toEqual(["1", "2", "3", "submit"]);
    expect(commands("rank-or-none-3", ["none"])).toEqual(["1", "2", "3", "tie", "submit", "none"]);
  });

  it("is answered by a click on an item, and by a long press where that says more", () => {
    const { answer, input } = shown("strength", STRENGTHS);
    input.onClick(1);
    input.onLongPress?.(1);
    expect(answer.mock.calls.flat()).toEqual(["right-slightly", "right-much"]);
    expect(shown("pair", ["left", "right"]).input.onLongPress).toBeUndefined();
  });

  it("has answers in words", () => {
    expect(choiceName("left-much", "strength", [])).toBe("A, much better");
    expect(choiceName("2", "best-of-3", [])).toBe("B is the best");
    expect(choiceName("2>1=3", "rank-3", [])).toBe("B > A = C");
    expect(choiceName("none", "rank-or-none-3", [])).toBe("none of them");
    expect(choiceName("pass", "success", ["unusable", "usable"])).toBe("usable");
  });
});

describe("a question about one item", () => {
  it("has a row of levels, the lowest on the left, with their words", () => {
    const { answer, input } = shown("rate-3", PLACES);
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["1 bad1", "2 okay2", "3 good3"]);
    input.onClick(0); // a click on the item says nothing
    fireEvent.keyDown(window, { key: "3" });
    expect(answer.mock.calls.flat()).toEqual(["3"]);
  });

  it("passes with the key on the right, and fails with that on the left", () => {
    const { answer } = shown("success", ["fail", "pass"]);
    for (const key of ["ArrowLeft", "j", "f", "ArrowRight"]) fireEvent.keyDown(window, { key });
    expect(answer.mock.calls.flat()).toEqual(["fail", "pass", "fail", "pass"]);
  });

  it("is announced without letters, and its answer with the word of the level", () => {
    expect(questionText({ stage: "compare", answered: 4 }, "rate-5", 1)).toBe("Question 5. How good is this one?");
    expect(questionText({ stage: "compare", answered: 4 }, "success", 1, true)).toBe("Question 5. Now: is this one acceptable?");
    expect(changeText("rank-3")).toBe("Now: rank them, the best first");
    expect(confirmationText({ action: "2", kind: "rate-3", words: ["bad", "okay", "good"] })).toBe("You chose 2, okay.");
  });
});

describe("none", () => {
  it("is an answer of its own, by a button and by a key", () => {
    const { answer } = shown("rank-or-none-3", ["none"]);
    fireEvent.click(screen.getByRole("button", { name: /^None is acceptable/ }));
    fireEvent.keyDown(window, { key: "0" });
    cleanup();
    const pair = shown("pair-or-none", ["left", "right", "none"]);
    fireEvent.keyDown(window, { key: "n" });
    expect([answer.mock.calls.flat(), pair.answer.mock.calls.flat()]).toEqual([["none", "none"], ["none"]]);
    expect(screen.getByRole("button", { name: /^Neither is acceptable/ })).toBeTruthy();
  });

  it("is not there where the server does not take it", () => {
    shown("rank-3", []);
    expect(screen.queryByRole("button", { name: /acceptable/ })).toBeNull();
  });
});
