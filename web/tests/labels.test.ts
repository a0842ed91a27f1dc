import { describe, expect, it } from "vitest";

import { type Box, boxAround, boxOf, overlaps, placeLabels } from "../src/player/labels";

const bounds: Box = { left: 0, top: 0, right: 300, bottom: 200 };
const size = { width: 40, height: 12 };

/** Discs, and the path of a ball between them, that are different in each case: by a linear congruential generator. */
function scattered(seed: number): { anchors: Box[]; path: Box[] } {
  let state = seed;
  const random = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const anchors = Array.from({ length: 8 }, (_, i) => boxAround(70 * (i % 4) + 30 + 30 * random(), 90 * Math.floor(i / 4) + 40 + 40 * random(), 10));
  const [x, y] = [300 * random(), 200 * random()];
  return { anchors, path: Array.from({ length: 60 }, (_, i) => boxAround((x * i) / 60, (y * i) / 60, 6)) };
}

const covers = (box: Box, others: Box[]): boolean => others.some((other) => overlaps(box, other));

describe("labels", () => {
  it("are above their part where there is room", () => {
    expect(placeLabels([size], [boxAround(100, 100, 10)], [], bounds)).toEqual([{ left: 80, top: 76, right: 120, bottom: 88 }]);
  });

  it("go below or beside it at the edge, and where something is above", () => {
    expect(placeLabels([size], [boxAround(100, 10, 10)], [], bounds)[0]?.top).toBe(22);
    expect(placeLabels([size], [boxAround(100, 100, 10)], [boxAround(100, 80, 5), boxAround(100, 120, 5)], bounds)[0]?.left).toBe(112);
  });

  it("are all in the picture, and cover no part and no other label, whatever the path", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { anchors, path } = scattered(seed);
      const boxes = placeLabels(anchors.map(() => size), anchors, path, bounds).filter((box) => box !== null);
      expect(boxes.length).toBe(8);
      for (const [i, box] of boxes.entries()) {
        expect(covers(box, [...anchors, ...boxes.slice(0, i)])).toBe(false);
        expect(boxOf([[box.left, box.top], [box.right, box.bottom], [0, 0], [300, 200]])).toEqual(bounds);
      }
      expect(boxes.some((box) => covers(box, path))).toBe(false);
    }
  });

  it("cover as little as they can where there is no room", () => {
    const anchors = [boxAround(100, 100, 10)];
    expect(placeLabels([size], anchors, [bounds], bounds)[0]?.top).toBe(76);
    const everywhereButRight = { ...bounds, right: 130 };
    expect(placeLabels([size], anchors, [everywhereButRight], bounds)[0]?.left).toBeGreaterThan(112);
  });

  it("are left out with parts outside the picture", () => {
    expect(placeLabels([size, size], [boxAround(-50, 100, 10), boxAround(5, 100, 10)], [], bounds)).toEqual([
      null,
      { left: 0, top: 76, right: 40, bottom: 88 },
    ]);
  });
});
