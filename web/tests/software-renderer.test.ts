/** Pictures of three-dimensional scenes by the processor, compared with rays that are cast through their pixels. */

import { describe, expect, it } from "vitest";

import type { Mesh, Pose, SolidPart, SolidScene } from "../src/api";
import { TileGrid } from "../src/player/software/backdrop";
import { Projected, Projector } from "../src/player/software/projection";
import { PIXELS, Tile } from "../src/player/software/tile";
import { trianglesOf } from "../src/player/software/triangles";
import { placed, SolidCamera } from "../src/player/solid-camera";

type Point = number[];

const VIEW: SolidScene["view"] = { kind: "camera", eye: [-3, -2, 2.5], target: [0, 0, 0], fov: 40 };
const SKY = 0xff102030;

function part(shapes: Mesh[]): SolidPart {
  return { name: "part", moves: true, label: "", trail: false, shapes };
}

/** Triangles at random places, each in a color of its own. */
function soup(count: number, seed: number, spread: number): SolidPart {
  let state = seed;
  const next = (): number => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5;
  return part(
    Array.from({ length: count }, (_, i) => {
      const vertices = Array.from({ length: 9 }, () => spread * next());
      return { shape: "mesh", vertices, faces: [0, 1, 2], color: `#${(0x404040 + 37 * i).toString(16)}` };
    }),
  );
}

function drawn(scene: SolidPart, samples: number, pose?: Pose): Tile {
  const camera = new SolidCamera(VIEW);
  camera.resize(PIXELS, PIXELS);
  const projected = new Projected();
  new Projector(camera, samples).add(trianglesOf(scene), projected, 0, pose);
  const tile = new Tile(samples);
  tile.clear(0, 0, SKY);
  for (let i = 0; i < projected.count; i++) tile.draw(projected, i);
  return tile;
}

const minus = (a: Point, b: Point): Point => a.map((value, i) => value - (b[i] ?? 0));
const dot = (a: Point, b: Point): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
const cross = ([a = 0, b = 0, c = 0]: Point, [x = 0, y = 0, z = 0]: Point): Point => [b * z - c * y, c * x - a * z, a * y - b * x];
const unit = (a: Point): Point => a.map((value) => value / Math.hypot(...a));

/** How far along a ray a triangle is that faces it (Möller and Trumbore); infinity if the ray misses it. */
function hit(eye: Point, ray: Point, [a = [], b = [], c = []]: Point[]): number {
  const [ab, ac] = [minus(b, a), minus(c, a)];
  const sideways = cross(ray, ac);
  const facing = dot(ab, sideways);
  if (facing <= 0) return Infinity;
  const from = minus(eye, a);
  const [u, v] = [dot(from, sideways) / facing, dot(ray, cross(from, ab)) / facing];
  const distance = dot(ac, cross(from, ab)) / facing;
  return u >= 0 && v >= 0 && u + v <= 1 && distance > 0 ? distance : Infinity;
}

/** The light on the face that a ray through a pixel meets first, and its color; null where it meets none. */
function cast(scene: SolidPart, column: number, row: number, pose: Pose): number[] | null {
  const eye: Point = VIEW.eye;
  const forward = unit(minus(VIEW.target, eye));
  const right = unit(cross(forward, [0, 0, 1]));
  const up = cross(right, forward);
  const half = Math.tan((VIEW.fov * Math.PI) / 360);
  const [x, y] = [(2 * (column + 0.5)) / PIXELS - 1, 1 - (2 * (row + 0.5)) / PIXELS];
  const ray = forward.map((value, i) => value + half * (x * (right[i] ?? 0) + y * (up[i] ?? 0)));
  const faces = scene.shapes.map(({ vertices, color }) => ({ corners: [0, 3, 6].map((at) => placed(vertices.slice(at, at + 3), pose)), color }));
  const distances = faces.map(({ corners }) => hit(eye, ray, corners));
  const nearest = Math.min(...distances);
  const face = faces[distances.indexOf(nearest)];
  if (nearest === Infinity || !face) return null;
  const [a = [], b = [], c = []] = face.corners;
  const light = unit(minus(minus([0, 0, 1], right.map((value) => 0.5 * value)), forward.map((value) => 0.8 * value)));
  const seen = 0.5 + 0.5 * Math.max(dot(unit(cross(minus(b, a), minus(c, a))), light), 0);
  return [1, 3, 5].map((at) => seen * parseInt(face.color.slice(at, at + 2), 16));
}

function bytes(color: number): number[] {
  return [color & 255, (color >> 8) & 255, (color >> 16) & 255];
}

/** In how many of every fifth pixel the picture is not what the rays say. */
function differing(scene: SolidPart, pose: Pose): number {
  const tile = drawn(scene, 1, pose);
  const wrong = Array.from(tile.colors).filter((color, i) => {
    if (i % 5 > 0) return false; // rays take their time
    const wanted = cast(scene, i % PIXELS, Math.floor(i / PIXELS), pose) ?? bytes(SKY);
    return bytes(color).some((value, k) => Math.abs(value - (wanted[k] ?? 0)) > 1);
  });
  return wrong.length;
}

const TURNED: Pose = [0.2, -0.1, 0.3, Math.cos(0.4), 0, Math.sin(0.4) * 0.6, Math.sin(0.4) * 0.8];

describe("a picture by the processor", () => {
  it.each([1, 2, 3])("shows in every pixel what a ray through it meets first (%i)", (seed) => {
    expect(differing(soup(60, seed, 2.5), TURNED)).toBe(0);
  });

  it("shows triangles that reach behind the camera as far as they are in front of it", () => {
    const wrong = differing(soup(30, 11, 14), [0, 0, 0, 1, 0, 0, 0]);
    expect(wrong).toBeLessThan(0.002 * PIXELS ** 2); // those nearer than the near plane are cut off
  });

  it("leaves no gap between neighbors, and draws no pixel of both", () => {
    const square: Mesh = { shape: "mesh", vertices: [-9, -9, 0, 9, -9, 0, 9, 9, 0, -9, 9, 0], faces: [0, 1, 2, 0, 2, 3], color: "#ffffff" };
    expect(Array.from(drawn(part([square]), 2).colors)).not.toContain(SKY);
  });

  it("means the samples of a pixel", () => {
    const tile = drawn(soup(60, 5, 2.5), 2);
    const image = new Uint32Array(PIXELS ** 2);
    tile.resolve(image);
    const [x, y] = [31, 33];
    const samples = [0, 1].flatMap((down) => [0, 1].map((across) => bytes(tile.colors[(2 * y + down) * 2 * PIXELS + 2 * x + across] ?? 0)));
    const means = [0, 1, 2].map((k) => Math.round(samples.reduce((sum, one) => sum + (one[k] ?? 0), 0) / 4));
    expect(bytes(image[PIXELS * y + x] ?? 0)).toEqual(means);
  });
});

describe("smooth surfaces", () => {
  const roof = (height: number): SolidPart =>
    part([{ shape: "mesh", vertices: [-1, 0, 0, 0, 0, height, 0, 1, height, 1, 0, 0], faces: [0, 1, 2, 1, 3, 2], color: "#808080" }]);
  const normals = (height: number): Float64Array => trianglesOf(roof(height)).normals;

  it("have one normal on both sides of a flat edge, and two on both sides of a sharp one", () => {
    const atRidge = (all: Float64Array, corner: number): number[] => Array.from(all.subarray(3 * corner, 3 * corner + 3));
    expect(atRidge(normals(0.1), 1)).toEqual(atRidge(normals(0.1), 3));
    expect(atRidge(normals(2), 1)).not.toEqual(atRidge(normals(2), 3));
  });
});

describe("the tiles of a picture", () => {
  it("are those that a triangle may cover", () => {
    const camera = new SolidCamera(VIEW);
    camera.resize(4 * PIXELS, 3 * PIXELS);
    const projected = new Projected();
    new Projector(camera, 1).addLine([[0, 0, 0], [0, 0, 0.01]], 2, [255, 255, 255], projected);
    const tiles = new TileGrid(4 * PIXELS, 3 * PIXELS, PIXELS).sort(projected);
    expect([...tiles.keys()].sort()).toEqual([5, 6]); // the middle of the picture is between these two
    expect(tiles.get(5)).toContain(0);
  });
});
