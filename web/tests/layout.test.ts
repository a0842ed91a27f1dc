import { describe, expect, it } from "vitest";

import { questionText } from "../src/compare/announcements";
import { answerCommands, answerOptions, choiceName, itemsOf, missingCommands, questionHeading, strongChoice } from "../src/compare/kinds";
import { gridStyle, itemLabel, narrowGrid, wideGrid } from "../src/compare/layout";

describe("items", () => {
  it("are named by letters", () => {
    expect([0, 1, 2, 3].map(itemLabel)).toEqual(["A", "B", "C", "D"]);
  });

  it("are side by side, or in a grid where that makes them larger", () => {
    const columns = (aspect: number): number[] => [2, 3, 4, 5].map((count) => wideGrid(count, aspect).columns);
    expect(columns(1)).toEqual([2, 3, 4, 5]);
    expect(columns(16 / 9)).toEqual([2, 3, 2, 3]);
    expect(columns(3)).toEqual([1, 2, 2, 2]);
  });

  it("are below each other on a narrow screen, or in two columns where that makes them larger", () => {
    const columns = (aspect: number): number[] => [2, 3, 4, 5].map((count) => narrowGrid(count, aspect).columns);
    expect(columns(9 / 16)).toEqual([2, 3, 2, 3]);
    expect(columns(1)).toEqual([1, 2, 2, 2]);
    expect(columns(3 / 2)).toEqual([1, 1, 2, 2]);
  });

  it("have a place each", () => {
    for (let count = 1; count <= 20; count++) {
      for (const { columns, rows } of [wideGrid(count, 1), wideGrid(count, 2), narrowGrid(count, 1)]) {
        expect(columns * rows).toBeGreaterThanOrEqual(count);
        expect(columns * (rows - 1)).toBeLessThan(count); // no empty row
      }
    }
    expect(gridStyle(3, 1)).toEqual({ "--aspect": 1, "--columns": 3, "--rows": 1, "--narrow-columns": 2, "--narrow-rows": 2 });
  });
});

describe("a question", () => {
  it("is announced with the places of its items", () => {
    expect(questionText({ stage: "compare", answered: 4 }, "pair", 2)).toMatch(/^Question 5\. A comes first, then B\. Which is better\?$/);
    expect(questionText({ stage: "practice", answered: 0 }, "best-of-3", 3)).toMatch(/^A practice question\. A to C .* Which is the best\?$/);
    expect(questionHeading("rank-4")).toBe("Rank them, the best first");
    expect(questionHeading("strength")).toBe("Which is better, and by how much?");
    expect(questionHeading("pair", "the blue car")).toBe("Which motion of the blue car is better?");
  });

  it("has the answers that the server takes", () => {
    expect(answerOptions("pair", ["left", "right", "equal"]).map(({ choice }) => choice)).toEqual(["left", "equal", "right"]);
    expect(answerOptions("pair", ["left", "right"]).map(({ item }) => item)).toEqual([0, 1]);
    expect(answerOptions("rank-3", [])).toEqual([]);
    expect(answerOptions("worst-of-3", ["1", "2", "3"]).map(({ label, rest }) => `${label} ${rest}`)).toContain("C is the worst");
    expect([itemsOf("pair"), itemsOf("rank-5")]).toEqual([2, 5]);
  });

  it("has keys of its own", () => {
    const pair = answerCommands("pair", answerOptions("pair", ["left", "right"]), 2, false);
    expect(missingCommands(pair)).toContain("equal");
    expect(answerCommands("rank-3", [], 3, true)).toEqual(["1", "2", "3", "tie", "submit"]);
    expect(strongChoice("strength", 1)).toBe("right-much");
    expect(strongChoice("pair", 1)).toBeNull();
  });

  it("has answers in words", () => {
    expect(choiceName("left-much", "strength")).toBe("A, much better");
    expect(choiceName("2", "best-of-3")).toBe("B is the best");
    expect(choiceName("2>1=3", "rank-3")).toBe("B > A = C");
  });
});
