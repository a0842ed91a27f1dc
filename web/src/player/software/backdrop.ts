/**
 * What stays the same in all pictures of a scene: drawn once for a camera and a size, and shared by all that show it.
 *
 * `image` has the pixels. Where something moves, the samples of a tile are needed too, so they are drawn when that happens.
 */

import type { SolidPart } from "../../api";
import { Projected, type Projector, STRIDE } from "./projection";
import { packed, PIXELS, type Samples, Tile } from "./tile";
import { trianglesOf } from "./triangles";

const MOST_TILES = 300; // of which samples are kept

/** The triangles of each tile of a picture, by the place of the tile. */
export class TileGrid {
  readonly columns: number;
  readonly rows: number;

  constructor(
    width: number,
    height: number,
    private readonly side: number, // of a tile, in samples
  ) {
    this.columns = Math.ceil(width / PIXELS);
    this.rows = Math.ceil(height / PIXELS);
  }

  sort({ data, count }: Projected): Map<number, number[]> {
    const tiles = new Map<number, number[]>();
    for (let triangle = 0; triangle < count; triangle++) {
      const at = STRIDE * triangle;
      const [left, right] = this.range(data[at] ?? 0, data[at + 2] ?? 0, data[at + 4] ?? 0, this.columns);
      const [top, bottom] = this.range(data[at + 1] ?? 0, data[at + 3] ?? 0, data[at + 5] ?? 0, this.rows);
      for (let row = top; row <= bottom; row++) {
        for (let column = left; column <= right; column++) append(tiles, row * this.columns + column, triangle);
      }
    }
    return tiles;
  }

  placeOf(tile: number): [column: number, row: number] {
    return [tile % this.columns, Math.floor(tile / this.columns)];
  }

  private range(a: number, b: number, c: number, count: number): [number, number] {
    const first = Math.max(Math.floor(Math.min(a, b, c) / this.side), 0);
    return [first, Math.min(Math.floor(Math.max(a, b, c) / this.side), count - 1)];
  }
}

function append(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

export class Backdrop {
  readonly image = document.createElement("canvas");
  readonly grid: TileGrid;
  private readonly projected = new Projected();
  private readonly tiles: Map<number, number[]>;
  private readonly known = new Map<number, Samples>();
  private readonly color: number;

  constructor(parts: readonly SolidPart[], background: string, projector: Projector, width: number, height: number, samples: number) {
    const tile = new Tile(samples);
    this.grid = new TileGrid(width, height, tile.size);
    this.color = packed(...rgbOf(background));
    [this.image.width, this.image.height] = [width, height];
    let layer = 0;
    for (const part of parts) {
      if (!part.moves) projector.add(trianglesOf(part), this.projected, layer);
      layer += part.shapes.length;
    }
    this.tiles = this.grid.sort(this.projected);
    this.drawAll(tile);
  }

  /** Begin a tile with what stays there. */
  begin(tile: Tile, place: number): void {
    const known = this.known.get(place);
    const [column, row] = this.grid.placeOf(place);
    if (known) {
      tile.restore(column, row, known);
      return;
    }
    this.draw(tile, place);
    if (this.known.size >= MOST_TILES) this.known.clear();
    this.known.set(place, tile.copy());
  }

  private draw(tile: Tile, place: number): void {
    tile.clear(...this.grid.placeOf(place), this.color);
    for (const triangle of this.tiles.get(place) ?? []) tile.draw(this.projected, triangle);
  }

  private drawAll(tile: Tile): void {
    const context = this.image.getContext("2d", { willReadFrequently: true });
    const pixels = new ImageData(PIXELS, PIXELS);
    const image = new Uint32Array(pixels.data.buffer);
    for (let place = 0; place < this.grid.columns * this.grid.rows; place++) {
      const [column, row] = this.grid.placeOf(place);
      this.draw(tile, place);
      tile.resolve(image);
      context?.putImageData(pixels, PIXELS * column, PIXELS * row);
    }
  }
}

/** A color such as "#a0b1c2". */
export function rgbOf(color: string): [number, number, number] {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return [red, green, blue];
}
