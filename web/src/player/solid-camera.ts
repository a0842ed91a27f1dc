/** The camera of a three-dimensional scene as a pinhole: where points are in its picture. */

import type { Scene, SolidScene } from "../api";

type Vector = readonly [number, number, number];

const NEAR = 0.05; // meters; points behind the eye are taken to be so far in front of it
const VERTICAL = 0.9999; // a camera that looks straight down has no "up" along z

export class SolidCamera {
  private readonly forward: Vector;
  private readonly right: Vector;
  private readonly up: Vector;
  private width = 1;
  private height = 1;

  constructor(private readonly view: SolidScene["view"]) {
    this.forward = normalized(minus(view.target, view.eye));
    this.right = normalized(cross(this.forward, Math.abs(this.forward[2]) < VERTICAL ? [0, 0, 1] : [0, 1, 0]));
    this.up = cross(this.right, this.forward);
  }

  /** The size of the picture, in pixels. */
  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
  }

  get eye(): Vector {
    return this.view.eye;
  }

  /** Right, up and forward, each of length 1. */
  get axes(): readonly [Vector, Vector, Vector] {
    return [this.right, this.up, this.forward];
  }

  /** From the eye to what it looks at, in meters. */
  get distance(): number {
    return Math.hypot(...minus(this.view.target, this.view.eye));
  }

  /** Towards the light, which is above the left shoulder of who looks. */
  get light(): Vector {
    const [, , z] = this.forward;
    const above: Vector = Math.abs(z) < VERTICAL ? [0, 0, 1] : [0, 1, 0];
    return normalized(minus(minus(above, times(0.5, this.right)), times(0.8, this.forward)));
  }

  /** The middle of the picture, in pixels. */
  get center(): readonly [number, number] {
    return [this.width / 2, this.height / 2];
  }

  /** How long a meter is at a distance of one meter, in pixels. */
  get focalLength(): number {
    return this.height / 2 / Math.tan((this.view.fov * Math.PI) / 360);
  }

  /** Pixels of a point in meters, from the upper left corner. */
  readonly project = (point: readonly number[]): number[] => {
    const from = minus(vectorOf(point), this.view.eye);
    const scale = this.pixelsPerMeter(point);
    return [this.width / 2 + scale * dot(from, this.right), this.height / 2 - scale * dot(from, this.up)];
  };

  /** How long a meter beside a point is in the picture, in pixels. */
  pixelsPerMeter(point: readonly number[]): number {
    const depth = dot(minus(vectorOf(point), this.view.eye), this.forward);
    return this.focalLength / Math.max(depth, NEAR);
  }
}

/** A scene as the camera of this name shows it; as usual if there is none. */
export function seenBy(scene: Scene, name: string): Scene {
  if (scene.dimensions === 2) return scene;
  const camera = scene.cameras?.find((one) => one.name === name);
  return camera ? { ...scene, view: camera } : scene;
}

function vectorOf([x = 0, y = 0, z = 0]: readonly number[]): Vector {
  return [x, y, z];
}

function minus(a: Vector, b: Vector): Vector {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function times(scale: number, a: Vector): Vector {
  return [scale * a[0], scale * a[1], scale * a[2]];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function normalized(a: Vector): Vector {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
}

/** A point of a rigid part in the scene, when the part is at this pose (x, y, z and a quaternion, its scalar part first). */
export function placed(point: readonly number[], [x = 0, y = 0, z = 0, w = 1, i = 0, j = 0, k = 0]: readonly number[]): number[] {
  const axis: Vector = [i, j, k];
  const at = vectorOf(point);
  const once = cross(axis, at);
  const twice = cross(axis, once);
  return [0, 1, 2].map((n) => (at[n] ?? 0) + 2 * (w * (once[n] ?? 0) + (twice[n] ?? 0)) + ([x, y, z][n] ?? 0));
}
