import { describe, expect, it } from "vitest";

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
