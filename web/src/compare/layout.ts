/** How the k items of a question are named and laid out. */

const A = "A".charCodeAt(0);
const ROOM = 2.6; // width by height of what a window leaves to the items,
const PHONE_ROOM = 0.75; // and a phone held upright
const MUCH_LARGER = 1.15;

export interface Grid {
  columns: number;
  rows: number;
}

/** A, B, C and so on: neutral names, which say nothing about the trajectories. */
export function itemLabel(position: number): string {
  return String.fromCharCode(A + position);
}

/** The grid in which items of this shape (width by height) are largest; a single row unless more rows help much. */
export function wideGrid(count: number, aspect: number): Grid {
  return largestGrid(count, aspect, ROOM);
}

export function narrowGrid(count: number, aspect: number): Grid {
  return largestGrid(count, aspect, PHONE_ROOM);
}

function largestGrid(count: number, aspect: number, room: number): Grid {
  const sizeIn = ({ columns, rows }: Grid): number => Math.min(room / columns, aspect / rows); // of an item, by the room's height
  const grids = Array.from({ length: Math.max(count, 1) }, (_, i) => withColumns(count, Math.ceil(count / (i + 1))));
  return grids.reduce((best, grid) => (sizeIn(grid) > MUCH_LARGER * sizeIn(best) ? grid : best));
}

function withColumns(count: number, columns: number): Grid {
  return { columns: Math.max(columns, 1), rows: Math.max(Math.ceil(count / columns), 1) };
}

/** The grids as the style sheet reads them. */
export function gridStyle(count: number, aspect: number): Record<string, number> {
  const [wide, narrow] = [wideGrid(count, aspect), narrowGrid(count, aspect)];
  return {
    "--aspect": aspect,
    "--columns": wide.columns,
    "--rows": wide.rows,
    "--narrow-columns": narrow.columns,
    "--narrow-rows": narrow.rows,
  };
}
