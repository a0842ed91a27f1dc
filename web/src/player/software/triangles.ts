/**
 * The triangles of a part of a scene.
 *
 *     corners   9 numbers each: x, y and z of three corners, in the coordinates of the part
 *     normals   9 numbers each: where the surface faces at each corner; the same on both sides of a smooth edge
 *     colors    3 numbers each, from 0 to 255
 *     meshes    the place of its mesh among all of the part
 */

import type { Mesh, SolidPart } from "../../api";

const CREASE = Math.cos((35 * Math.PI) / 180); // edges sharper than this are not smoothed

export interface Triangles {
  count: number;
  corners: Float64Array;
  normals: Float64Array;
  colors: Uint8Array;
  meshes: Uint16Array;
}

const known = new WeakMap<SolidPart, Triangles>(); // shared by all views of a scene

export function trianglesOf(part: SolidPart): Triangles {
  const before = known.get(part);
  if (before) return before;
  const triangles = joined(part.shapes.map(meshTriangles));
  known.set(part, triangles);
  return triangles;
}

function joined(all: Triangles[]): Triangles {
  const count = all.reduce((sum, one) => sum + one.count, 0);
  const whole = blank(count);
  let done = 0;
  for (const [mesh, { count: more, corners, normals, colors }] of all.entries()) {
    whole.corners.set(corners, 9 * done);
    whole.normals.set(normals, 9 * done);
    whole.colors.set(colors, 3 * done);
    whole.meshes.fill(mesh, done, done + more);
    done += more;
  }
  return whole;
}

function blank(count: number): Triangles {
  const numbers = (each: number): Float64Array => new Float64Array(each * count);
  return { count, corners: numbers(9), normals: numbers(9), colors: new Uint8Array(3 * count), meshes: new Uint16Array(count) };
}

function meshTriangles({ vertices, faces, color }: Mesh): Triangles {
  const found = blank(faces.length / 3);
  faces.forEach((vertex, corner) => {
    for (let axis = 0; axis < 3; axis++) found.corners[3 * corner + axis] = vertices[3 * vertex + axis] ?? 0;
  });
  const rgb = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  for (let i = 0; i < found.count; i++) found.colors.set(rgb, 3 * i);
  smooth(found);
  return found;
}

/** The normal at a corner: the mean of the faces around it that are nearly in one plane with its own, by their areas. */
function smooth({ count, corners, normals }: Triangles): void {
  const faces = Array.from({ length: count }, (_, i) => faceNormal(corners.subarray(9 * i, 9 * i + 9)));
  const directions = faces.map(unit);
  const around = facesByPlace(corners);
  for (let corner = 0; corner < 3 * count; corner++) {
    const own = directions[Math.floor(corner / 3)] ?? [0, 0, 1];
    const sum = [0, 0, 0];
    for (const face of around.get(placeOf(corners, corner)) ?? []) {
      if (dot(own, directions[face] ?? own) < CREASE) continue;
      (faces[face] ?? []).forEach((value, axis) => (sum[axis] = (sum[axis] ?? 0) + value));
    }
    normals.set(unit(sum), 3 * corner);
  }
}

/** Meshes may have a vertex of its own for each face: what counts is where it is. */
function facesByPlace(corners: Float64Array): Map<string, number[]> {
  const around = new Map<string, number[]>();
  for (let corner = 0; corner < corners.length / 3; corner++) {
    const place = placeOf(corners, corner);
    const faces = around.get(place);
    if (faces) faces.push(Math.floor(corner / 3));
    else around.set(place, [Math.floor(corner / 3)]);
  }
  return around;
}

function placeOf(corners: Float64Array, corner: number): string {
  return `${corners[3 * corner]} ${corners[3 * corner + 1]} ${corners[3 * corner + 2]}`;
}

/** At a right angle to a triangle, and twice as long as it is large. */
function faceNormal([ax = 0, ay = 0, az = 0, bx = 0, by = 0, bz = 0, cx = 0, cy = 0, cz = 0]: Float64Array): number[] {
  const [ux, uy, uz] = [bx - ax, by - ay, bz - az];
  const [vx, vy, vz] = [cx - ax, cy - ay, cz - az];
  return [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function unit(a: number[]): number[] {
  const length = Math.hypot(...a) || 1;
  return a.map((value) => value / length);
}
