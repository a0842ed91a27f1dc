/**
 * A square of the picture: the color of each sample, and how near what it shows is. A pixel is the mean of its samples.
 *
 *     colors   of samples, as bytes of red, green, blue and opacity
 *     depths   inverse depth of samples: of all triangles drawn, the nearest shows
 */

import { type Projected, STRIDE } from "./projection";

export const PIXELS = 64; // of a side

export interface Samples {
  colors: Uint32Array;
  depths: Float32Array;
}

export class Tile implements Samples {
  readonly size: number; // of a side, in samples
  readonly colors: Uint32Array;
  readonly depths: Float32Array;
  private left = 0; // the place in the picture, in samples
  private top = 0;
  private readonly span = { low: 0, high: 0 };

  /** `samples` of a pixel in a row, and in a column. */
  constructor(private readonly samples: number) {
    this.size = samples * PIXELS;
    this.colors = new Uint32Array(this.size ** 2);
    this.depths = new Float32Array(this.size ** 2);
  }

  /** Begin a tile of the picture with one color, infinitely far away. */
  clear(column: number, row: number, color: number): void {
    [this.left, this.top] = [this.size * column, this.size * row];
    this.colors.fill(color);
    this.depths.fill(0);
  }

  /** Begin it with what was drawn before. */
  restore(column: number, row: number, { colors, depths }: Samples): void {
    [this.left, this.top] = [this.size * column, this.size * row];
    this.colors.set(colors);
    this.depths.set(depths);
  }

  copy(): Samples {
    return { colors: this.colors.slice(), depths: this.depths.slice() };
  }

  /** Draw a triangle where it is the nearest. */
  draw({ data }: Projected, triangle: number): void {
    const at = STRIDE * triangle;
    const [ay, by, cy] = [numberAt(data, at + 1), numberAt(data, at + 3), numberAt(data, at + 5)];
    const first = Math.max(Math.ceil(Math.min(ay, by, cy) - this.top - 0.5), 0);
    const end = Math.min(Math.ceil(Math.max(ay, by, cy) - this.top - 0.5), this.size);
    for (let row = first; row < end; row++) {
      this.findSpan(data, at, this.top + row + 0.5);
      const from = Math.max(Math.ceil(this.span.low - this.left - 0.5), 0);
      const to = Math.min(Math.ceil(this.span.high - this.left - 0.5), this.size);
      if (from < to) this.fill(data, at, row, from, to);
    }
  }

  /** The x at which a line of samples enters a triangle, and at which it leaves it. */
  private findSpan(data: Float64Array, at: number, y: number): void {
    [this.span.low, this.span.high] = [-Infinity, Infinity];
    for (let edge = 0; edge < 3; edge++) {
      const [from, to] = [at + 2 * edge, at + 2 * ((edge + 1) % 3)];
      const [ax, ay, bx, by] = [numberAt(data, from), numberAt(data, from + 1), numberAt(data, to), numberAt(data, to + 1)];
      if (ay === by) continue;
      const x = (ax * (by - y) + bx * (y - ay)) / (by - ay); // the same bits for the neighbor's edge, so there are no gaps
      if (by > ay) this.span.low = Math.max(this.span.low, x);
      else this.span.high = Math.min(this.span.high, x);
    }
  }

  private fill(data: Float64Array, at: number, row: number, from: number, to: number): void {
    const [x, y] = [this.left + from + 0.5, this.top + row + 0.5];
    const [depthAcross, lightAcross] = [numberAt(data, at + 7), numberAt(data, at + 10)];
    let depth = numberAt(data, at + 6) + depthAcross * x + numberAt(data, at + 8) * y;
    let light = numberAt(data, at + 9) + lightAcross * x + numberAt(data, at + 11) * y;
    const [red, green, blue] = [numberAt(data, at + 12), numberAt(data, at + 13), numberAt(data, at + 14)];
    for (let i = this.size * row + from; i < this.size * row + to; i++, depth += depthAcross, light += lightAcross) {
      if (depth <= numberAt(this.depths, i)) continue;
      this.depths[i] = depth;
      this.colors[i] = packed(light * red, light * green, light * blue);
    }
  }

  /** The pixels, into an image of them. */
  resolve(image: Uint32Array): void {
    const { samples, size } = this;
    for (let row = 0; row < PIXELS; row++) {
      for (let column = 0; column < PIXELS; column++) image[PIXELS * row + column] = this.mean(samples * (size * row + column));
    }
  }

  /** Of the samples of a pixel, of which this is the first. Red and blue are summed together: none runs into the other. */
  private mean(first: number): number {
    const { samples, size, colors } = this;
    let [redAndBlue, green] = [0, 0];
    for (let down = 0; down < samples; down++) {
      for (let i = first + size * down; i < first + size * down + samples; i++) {
        const color = numberAt(colors, i);
        redAndBlue += color & 0xff00ff;
        green += (color >> 8) & 255;
      }
    }
    const count = samples ** 2;
    return packed((redAndBlue & 0xffff) / count, green / count, (redAndBlue >>> 16) / count);
  }
}

function numberAt(values: ArrayLike<number>, i: number): number {
  return values[i] ?? 0;
}

/** A color as the bytes of a canvas, red first; its parts are from 0 to 255. */
export function packed(red: number, green: number, blue: number): number {
  return ((255 << 24) | ((blue + 0.5) << 16) | ((green + 0.5) << 8) | (red + 0.5)) >>> 0;
}
