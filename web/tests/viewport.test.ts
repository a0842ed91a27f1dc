import { describe, expect, it } from "vitest";

import type { FlatScene, Window } from "../src/api";
import { fitAspect, viewTransform, windowAt, windowCovering } from "../src/player/viewport";

const view: Window = { kind: "window", left: -1, right: 3, bottom: -1, top: 1, follow: null };

const scene = (follow: string | null): FlatScene => ({
  format: 1,
  dimensions: 2,
  frame_time: 0.1,
  background: "#ffffff",
  view: { ...view, follow },
  main_part: null,
  parts: [
    { name: "road", moves: false, label: "", trail: false, shapes: [] },
    { name: "other", moves: true, label: "", trail: false, shapes: [] },
    { name: "car", moves: true, label: "", trail: false, shapes: [] },
  ],
});

function pixel(window: Window, width: number, height: number, x: number, y: number): [number, number] {
  const { scale, dx, dy } = viewTransform(window, width, height);
  return [scale * x + dx, -scale * y + dy];
}

describe("the transform to pixels", () => {
  it("maps the corners of the window to the corners of the canvas", () => {
    expect(pixel(view, 400, 200, -1, 1)).toEqual([0, 0]);
    expect(pixel(view, 400, 200, 3, -1)).toEqual([400, 200]);
  });

  it("keeps the aspect ratio and the center", () => {
    for (const [width, height] of [
      [400, 400],
      [900, 200],
    ] as const) {
      const [x0, y0] = pixel(view, width, height, 0, 0);
      const [x1, y1] = pixel(view, width, height, 1, 1);
      expect(x1 - x0).toBeCloseTo(y0 - y1);
      const middle = pixel(view, width, height, 1, 0);
      expect(middle[0]).toBeCloseTo(width / 2);
      expect(middle[1]).toBeCloseTo(height / 2);
    }
  });

  it("widens the window and never cuts it", () => {
    const wide = fitAspect(view, 1);
    expect(wide.left).toBe(-1);
    expect(wide.top - wide.bottom).toBe(4);
  });
});

describe("a window that follows", () => {
  it("moves vertically with its part, and sideways only when the part comes near to an edge", () => {
    const at = (x: number): number[] => {
      const { left, right, bottom, top } = windowAt(scene("car"), [[0, 7, 0], [x, 2, 0]]);
      return [left, right, bottom, top];
    };
    expect(at(1)).toEqual([-1, 3, 1, 3]);
    expect(at(2.3)).toEqual([-1, 3, 1, 3]);
    const near = (...edges: number[]): number[] => edges.map((edge) => expect.closeTo(edge, 9) as number);
    expect(at(3.5)).toEqual(near(-1 + 7 / 6, 3 + 7 / 6, 1, 3)); // the part is a sixth of the width from the edge
    expect(at(5)).toEqual(near(0.6, 5 + 4 / 6, 1, 3)); // most of the first view is still in the picture
    expect(at(-9)).toEqual(near(-9 - 4 / 6, 1.4, 1, 3));
  });

  it("stays if it follows nothing", () => {
    const poses = [
      [0, 7, 0],
      [5, 2, 0],
    ];
    expect(windowAt(scene(null), poses)).toEqual(scene(null).view);
  });

  it("covers the whole path in a still image", () => {
    const replay = {
      format: 1,
      frame_time: 0.1,
      poses: [
        [
          [0, 0, 0],
          [0, -1, 0],
        ],
        [
          [0, 0, 0],
          [4, 4, 0],
        ],
      ],
    };
    const over = windowCovering(scene("car"), [replay]);
    expect([over.bottom, over.top]).toEqual([-2, 5]);
    expect(over.left).toBe(-1);
    expect(over.right).toBeCloseTo(4 + 4 / 6);
  });
});
