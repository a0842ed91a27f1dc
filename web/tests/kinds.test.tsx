import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import { questionText } from "../src/compare/announcements";
import type { Asked, Input } from "../src/compare/kind";
import { choiceName, formOf, itemsOf, type Kind, kindOf } from "../src/compare/registry";

afterEach(cleanup);

const PLACES = ["1", "2", "3"];
const STRENGTHS = ["left-much", "left-slightly", "equal", "right-slightly", "right-much"];
const CHOICES: [Kind, string[]][] = [
  ["pair", ["left", "right", "equal"]],
  ["strength", STRENGTHS],
  ["best-of-3", PLACES],
  ["worst-of-3", PLACES],
  ["rank-3", []],
];

const asked = (kind: Kind, choices: string[], ties = true): Asked => ({ count: itemsOf(kind), choices, ties });
const commands = (kind: Kind, choices: string[], ties = true): string[] =>
  kindOf(kind)
    .keys(asked(kind, choices, ties))
    .map(({ command }) => command);

function shown(kind: Kind, choices: string[], ties = true): { answer: ReturnType<typeof vi.fn>; input: Input } {
  const { Input: View } = kindOf(kind);
  const answer = vi.fn<(choice: string) => void>();
  const found: Input[] = [];
  const props = { ...asked(kind, choices, ties), question: 1, blocked: false, last: { action: null, count: 0, kind }, answer };
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
    expect(view.heading("")).toMatch(/^(Which is|Rank them)/);
    expect(view.heading("the blue car")).toContain("of the blue car");
    expect(view.touch).toMatch(/^Tap /);
    expect(new Set(choices.map(view.choiceName)).size).toBe(choices.length);
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
    expect([itemsOf("pair"), itemsOf("rank-5")]).toEqual([2, 5]);
    expect(itemsOf("best-of-12")).toBe(12);
  });

  it("of another package, without a file, has a button and a key for each choice", () => {
    const { answer } = shown("guess-2", ["both", "neither"]);
    for (const button of screen.getAllByRole("button")) fireEvent.click(button);
    expect(answer.mock.calls.flat()).toEqual(["both", "neither"]);
    expect(commands("guess-2", ["both", "neither"])).toEqual(["both", "neither"]);
    expect(kindOf("guess-2").heading("the blue car")).toContain("of the blue car");
    expect(choiceName("both", "guess-2")).toBe("both");
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
  });

  it("is answered by a click on an item, and by a long press where that says more", () => {
    const { answer, input } = shown("strength", STRENGTHS);
    input.onClick(1);
    input.onLongPress?.(1);
    expect(answer.mock.calls.flat()).toEqual(["right-slightly", "right-much"]);
    expect(shown("pair", ["left", "right"]).input.onLongPress).toBeUndefined();
  });

  it("has answers in words", () => {
    expect(choiceName("left-much", "strength")).toBe("A, much better");
    expect(choiceName("2", "best-of-3")).toBe("B is the best");
    expect(choiceName("2>1=3", "rank-3")).toBe("B > A = C");
  });
});
