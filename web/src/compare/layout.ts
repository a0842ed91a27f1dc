/** How the k items of a question are named and laid out. */

const A = "A".charCodeAt(0);
const ROOM = 2.6; // width by height of what a window leaves to the items
const MUCH_LARGER = 1.15;
const LONGEST_COLUMN = 3; // on a narrow screen

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
  const grids = Array.from({ length: Math.max(count, 1) }, (_, i) => withColumns(count, Math.ceil(count / (i + 1))));
  return grids.reduce((best, grid) => (sizeIn(grid, aspect) > MUCH_LARGER * sizeIn(best, aspect) ? grid : best));
}

/** The width of an item, in heights of the room for all of them. */
function sizeIn({ columns, rows }: Grid, aspect: number): number {
  return Math.min(ROOM / columns, aspect / rows);
}

/** A few items below each other, more in two columns. */
export function narrowGrid(count: number): Grid {
  return withColumns(count, count <= LONGEST_COLUMN ? 1 : 2);
}

function withColumns(count: number, columns: number): Grid {
  return { columns: Math.max(columns, 1), rows: Math.max(Math.ceil(count / columns), 1) };
}

/** The grids as the style sheet reads them. */
export function gridStyle(count: number, aspect: number): Record<string, number> {
  const [wide, narrow] = [wideGrid(count, aspect), narrowGrid(count)];
  return {
    "--aspect": aspect,
    "--columns": wide.columns,
    "--rows": wide.rows,
    "--narrow-columns": narrow.columns,
    "--narrow-rows": narrow.rows,
  };
}
