/** How the k items of a question are named and laid out. */

const A = "A".charCodeAt(0);
const LONGEST_ROW = 3;
const LONGEST_COLUMN = 3; // on a narrow screen

export interface Grid {
  columns: number;
  rows: number;
}

/** A, B, C and so on: neutral names, which say nothing about the trajectories. */
export function itemLabel(position: number): string {
  return String.fromCharCode(A + position);
}

/** A few items side by side, more in a grid that is nearly square. */
export function wideGrid(count: number): Grid {
  return withColumns(count, count <= LONGEST_ROW ? count : Math.ceil(Math.sqrt(count)));
}

/** A few items below each other, more in two columns. */
export function narrowGrid(count: number): Grid {
  return withColumns(count, count <= LONGEST_COLUMN ? 1 : 2);
}

function withColumns(count: number, columns: number): Grid {
  return { columns: Math.max(columns, 1), rows: Math.max(Math.ceil(count / columns), 1) };
}

/** The grids as the style sheet reads them. */
export function gridStyle(count: number): Record<string, number> {
  const [wide, narrow] = [wideGrid(count), narrowGrid(count)];
  return {
    "--columns": wide.columns,
    "--rows": wide.rows,
    "--narrow-columns": narrow.columns,
    "--narrow-rows": narrow.rows,
  };
}
