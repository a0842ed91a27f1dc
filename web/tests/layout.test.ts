import { describe, expect, it } from "vitest";

import { questionHeading, questionText } from "../src/compare/announcements";
import { answerOptions, missingChoices } from "../src/compare/answers";
import { gridStyle, itemLabel, narrowGrid, wideGrid } from "../src/compare/layout";

describe("items", () => {
  it("are named by letters", () => {
    expect([0, 1, 2, 3].map(itemLabel)).toEqual(["A", "B", "C", "D"]);
  });

  it("are side by side if they are few, else in a grid", () => {
    const grids = [2, 3, 4, 5, 6, 9, 10].map((count) => wideGrid(count));
    expect(grids.map(({ columns, rows }) => [columns, rows])).toEqual([
      [2, 1],
      [3, 1],
      [2, 2],
      [3, 2],
      [3, 2],
      [3, 3],
      [4, 3],
    ]);
  });

  it("are below each other on a narrow screen if they are few", () => {
    expect([2, 3, 4, 5].map((count) => narrowGrid(count).columns)).toEqual([1, 1, 2, 2]);
    expect([2, 3, 4, 5].map((count) => narrowGrid(count).rows)).toEqual([2, 3, 2, 3]);
  });

  it("have a place each", () => {
    for (let count = 1; count <= 20; count++) {
      for (const { columns, rows } of [wideGrid(count), narrowGrid(count)]) {
        expect(columns * rows).toBeGreaterThanOrEqual(count);
        expect(columns * (rows - 1)).toBeLessThan(count); // no empty row
      }
    }
    expect(gridStyle(3)).toEqual({ "--columns": 3, "--rows": 1, "--narrow-columns": 1, "--narrow-rows": 3 });
  });
});

describe("a question", () => {
  it("is announced with the places of its items", () => {
    expect(questionText({ stage: "compare", answered: 4 }, 2)).toMatch(/^Question 5\. A comes first, then B\. Which is better\?$/);
    expect(questionText({ stage: "practice", answered: 0 }, 3)).toMatch(/^A practice question\. A to C .* Which is best\?$/);
    expect(questionHeading(3)).toBe("Which is best?");
    expect(questionHeading(2, "the blue car")).toBe("Which motion of the blue car is better?");
  });

  it("of two items has the answers that the server takes", () => {
    expect(answerOptions(2, ["left", "right", "equal"]).map(({ choice }) => choice)).toEqual(["left", "equal", "right"]);
    expect(answerOptions(2, ["left", "right"]).map(({ item }) => item)).toEqual([0, 1]);
    expect(answerOptions(3, ["left", "right", "equal"])).toEqual([]);
    expect(missingChoices(answerOptions(2, ["left", "right"]))).toEqual(["equal"]);
    expect(missingChoices(answerOptions(2, ["left", "right", "equal"]))).toEqual([]);
  });
});
