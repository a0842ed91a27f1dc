/**
 * From triangles in a scene to triangles in its picture, shaded.
 *
 *     x, y            of three corners, in samples from the upper left corner; y points down
 *     inverse depth   1 / depth, which is linear over the picture, as depth is not; larger is nearer
 *     light           the fraction of the color that is seen, linear over the picture too
 *
 * Every frame passes thousands of triangles through here: nothing is allocated for those that are wholly in view.
 */

import type { Pose } from "../../api";
import { placed, type SolidCamera } from "../solid-camera";
import type { Triangles } from "./triangles";

export const STRIDE = 15; // numbers each: 6 of corners, 3 of the plane of inverse depth, 3 of that of light, 3 of color
const AMBIENT = 0.5; // the fraction of the light that comes from all directions
const NEAR = 0.02; // the near plane, as a fraction of the distance from the eye to its target
const BIAS = 1e-6; // each mesh counts as nearer by this fraction than the one before, so that none flickers through another
const MIN_AREA = 1e-9; // triangles that are smaller, in square samples, are left out
const REST: Pose = [0, 0, 0, 1, 0, 0, 0];

/** A corner as the camera sees it: right of the eye, above it, in front of it. */
interface Corner {
  right: number;
  up: number;
  depth: number;
  light: number;
}

/** Projected triangles, as many as are added; the memory is used again for the next picture. */
export class Projected {
  data = new Float64Array(1024 * STRIDE);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  /** Room for one more: where it begins. */
  next(): number {
    const at = STRIDE * this.count++;
    if (at + STRIDE <= this.data.length) return at;
    const larger = new Float64Array(2 * this.data.length);
    larger.set(this.data);
    this.data = larger;
    return at;
  }
}

export class Projector {
  private readonly near: number;
  private readonly corners: [Corner, Corner, Corner] = [blank(), blank(), blank()]; // of the triangle that is added now
  private readonly scale: number; // samples of a meter at a distance of one meter
  private readonly x: number; // of the middle of the picture
  private readonly y: number;

  /** For a camera that knows its size; `samples` are those of a pixel in a row of the picture. */
  constructor(
    private readonly camera: SolidCamera,
    private readonly samples: number,
  ) {
    this.near = NEAR * camera.distance;
    this.scale = samples * camera.focalLength;
    [this.x, this.y] = [samples * camera.center[0], samples * camera.center[1]];
  }

  /** Add a part at its pose, `scale` times as large; `layer` is the place of its first mesh among all. */
  add(part: Triangles, into: Projected, layer: number, pose: Pose = REST, scale = 1): void {
    const { turn, shift, light } = this.seenFrom(pose);
    const [a, b, c] = this.corners;
    const place = (corner: Corner, at: number): void => {
      corner.right = scale * product(turn, 0, part.corners, at) + shift.right;
      corner.up = scale * product(turn, 3, part.corners, at) + shift.up;
      corner.depth = scale * product(turn, 6, part.corners, at) + shift.depth;
      corner.light = AMBIENT + (1 - AMBIENT) * Math.max(product(light, 0, part.normals, at), 0);
    };
    for (let i = 0; i < part.count; i++) {
      place(a, 9 * i);
      place(b, 9 * i + 3);
      place(c, 9 * i + 6);
      const nearer = 1 + BIAS * (layer + numberAt(part.meshes, i));
      this.addTriangle(into, nearer, part.colors, 3 * i);
    }
  }

  /** Add a line through points, `width` pixels wide in the picture, without light and shade. */
  addLine(points: readonly (readonly number[])[], width: number, color: readonly number[], into: Projected): void {
    const half = (width * this.samples) / 2;
    const path = points.map((point) => this.seenPoint(point)).filter(({ depth }) => depth > this.near);
    for (const [i, end] of path.entries()) {
      const start = path[i - 1];
      if (start) this.addSegment(start, end, half, color, into);
    }
  }

  /** Longer than the line by its width, so that there are no gaps at its corners. */
  private addSegment(start: Corner, end: Corner, half: number, color: readonly number[], into: Projected): void {
    const [across, down] = [this.xOf(end) - this.xOf(start), this.yOf(end) - this.yOf(start)];
    const length = Math.hypot(across, down);
    if (length < 1e-6) return;
    const [dx, dy] = [(half * across) / length, (half * down) / length];
    const beside = (corner: Corner, along: number, aside: number): Corner => {
      const meters = corner.depth / this.scale; // of a sample at this depth
      const { right, up, depth, light } = corner;
      return { right: right + meters * (along * dx + aside * dy), up: up - meters * (along * dy - aside * dx), depth, light };
    };
    const [a, b, c, d] = [beside(start, -0.5, -1), beside(start, -0.5, 1), beside(end, 0.5, 1), beside(end, 0.5, -1)];
    this.put(a, c, b, into, 1, color, 0);
    this.put(a, d, c, into, 1, color, 0);
  }

  /** The part of the triangle that is in front of the near plane: none, one triangle, or two. */
  private addTriangle(into: Projected, nearer: number, colors: ArrayLike<number>, color: number): void {
    const { near, corners } = this;
    const [a, b, c] = corners;
    if (a.depth > near && b.depth > near && c.depth > near) {
      this.put(a, b, c, into, nearer, colors, color);
      return;
    }
    const [first, ...rest] = clipped(corners, near);
    for (const [i, corner] of rest.entries()) {
      const before = rest[i - 1];
      if (first && before) this.put(first, before, corner, into, nearer, colors, color);
    }
  }

  /** Write a triangle that faces the camera; the others are not seen. */
  private put(a: Corner, b: Corner, c: Corner, into: Projected, nearer: number, colors: ArrayLike<number>, color: number): void {
    const [ax, ay] = [this.xOf(a), this.yOf(a)];
    const [abx, aby, acx, acy] = [this.xOf(b) - ax, this.yOf(b) - ay, this.xOf(c) - ax, this.yOf(c) - ay];
    const area = abx * acy - acx * aby;
    if (!(area < -MIN_AREA)) return; // negative, since y points down
    const at = into.next();
    const { data } = into;
    [data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4], data[at + 5]] = [ax, ay, this.xOf(b), this.yOf(b), this.xOf(c), this.yOf(c)];
    for (let k = 0; k < 2; k++) {
      const own = k === 0 ? nearer / a.depth : a.light;
      const [toB, toC] = [(k === 0 ? nearer / b.depth : b.light) - own, (k === 0 ? nearer / c.depth : c.light) - own];
      const across = (toB * acy - toC * aby) / area;
      const down = (toC * abx - toB * acx) / area;
      data[at + 6 + 3 * k] = own - across * ax - down * ay;
      data[at + 7 + 3 * k] = across;
      data[at + 8 + 3 * k] = down;
    }
    for (let k = 0; k < 3; k++) data[at + 12 + k] = numberAt(colors, color + k);
  }

  private xOf({ right, depth }: Corner): number {
    return this.x + (this.scale * right) / depth;
  }

  private yOf({ up, depth }: Corner): number {
    return this.y - (this.scale * up) / depth;
  }

  private seenPoint(point: readonly number[]): Corner {
    const from = Float64Array.from(this.camera.eye.map((value, i) => (point[i] ?? 0) - value));
    const [right, up, depth] = this.camera.axes.map((axis) => product(axis, 0, from, 0));
    return { right: right ?? 0, up: up ?? 0, depth: depth ?? 0, light: 1 };
  }

  /** The camera's axes in the coordinates of a part at a pose, row by row; where its origin is; the light there. */
  private seenFrom(pose: Pose): { turn: Float64Array; shift: Corner; light: Float64Array } {
    const back = [0, 0, 0, pose[3] ?? 1, -(pose[4] ?? 0), -(pose[5] ?? 0), -(pose[6] ?? 0)];
    const turn = Float64Array.from(this.camera.axes.flatMap((axis) => placed(axis, back)));
    return { turn, shift: this.seenPoint(pose), light: Float64Array.from(placed(this.camera.light, back)) };
  }
}

function blank(): Corner {
  return { right: 0, up: 0, depth: 0, light: 0 };
}

function numberAt(values: ArrayLike<number>, i: number): number {
  return values[i] ?? 0;
}

function product(a: ArrayLike<number>, i: number, b: ArrayLike<number>, k: number): number {
  return numberAt(a, i) * numberAt(b, k) + numberAt(a, i + 1) * numberAt(b, k + 1) + numberAt(a, i + 2) * numberAt(b, k + 2);
}

/** The corners of what is left of a triangle in front of the near plane. */
function clipped(corners: readonly Corner[], near: number): Corner[] {
  return corners.flatMap((corner, i) => {
    const next = corners[(i + 1) % corners.length] ?? corner;
    const [here, there] = [corner.depth - near, next.depth - near];
    const kept = here > 0 ? [{ ...corner }] : [];
    return here > 0 === there > 0 ? kept : [...kept, between(corner, next, here / (here - there))];
  });
}

function between(from: Corner, to: Corner, fraction: number): Corner {
  const mixed = (a: number, b: number): number => a + fraction * (b - a);
  return { right: mixed(from.right, to.right), up: mixed(from.up, to.up), depth: mixed(from.depth, to.depth), light: mixed(from.light, to.light) };
}
