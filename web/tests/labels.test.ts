import { describe, expect, it } from "vitest";

import { type Box, boxAround, boxOf, overlaps, placeLabels } from "../src/player/labels";

const bounds: Box = { left: 0, top: 0, right: 300, bottom: 200 };
const size = { width: 40, height: 12 };

/** Discs and a ball's path that are different in each case, by a linear congruential generator. */
function crowded(seed: number): { anchors: Box[]; path: Box[] } {
  let state = seed;
  const random = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const anchors = Array.from({ length: 8 }, () => boxAround(20 + 260 * random(), 20 + 160 * random(), 10));
  const [x, y] = [300 * random(), 200 * random()];
  return { anchors, path: Array.from({ length: 60 }, (_, i) => boxAround((x * i) / 60, (y * i) / 60, 6)) };
}

describe("labels", () => {
  it("are above their part where there is room", () => {
    expect(placeLabels([size], [boxAround(100, 100, 10)], [], bounds)).toEqual([{ left: 80, top: 76, right: 120, bottom: 88 }]);
  });

  it("go below or beside it at the edge, and where something is above", () => {
    expect(placeLabels([size], [boxAround(100, 10, 10)], [], bounds)[0]?.top).toBe(22);
    expect(placeLabels([size], [boxAround(100, 100, 10)], [boxAround(100, 80, 5), boxAround(100, 120, 5)], bounds)[0]?.left).toBe(112);
  });

  it("cover no part, no path and no other label, and stay in the picture", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { anchors, path } = crowded(seed);
      const boxes = placeLabels(anchors.map(() => size), anchors, path, bounds).filter((box) => box !== null);
      expect(boxes.length).toBeGreaterThanOrEqual(4); // these parts overlap each other, so some labels find no place
      for (const [i, box] of boxes.entries()) {
        expect([...anchors, ...path, ...boxes.slice(0, i)].some((other) => overlaps(box, other))).toBe(false);
        expect(boxOf([[box.left, box.top], [box.right, box.bottom], [0, 0], [300, 200]])).toEqual(bounds);
      }
    }
  });

  it("are left out where there is no room", () => {
    expect(placeLabels([size], [boxAround(100, 100, 10)], [bounds], bounds)).toEqual([null]);
  });
});
