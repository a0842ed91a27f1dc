/** What a teacher has set in the pool, which stays when another tab is opened: filters, order, page, and choice. */

import { signal } from "@preact/signals";

import type { PoolSearch } from "../../api";

export const PAGE = 24; // trajectories on a page

export interface Range {
  low: string; // as it was typed; "" is no limit
  high: string;
}

export interface Filters {
  sort: string; // a word of the server's, or "feature 3" for the feature in that place
  descending: boolean;
  text: string;
  tag: string;
  shown: NonNullable<PoolSearch["shown"]>;
  ranges: ReadonlyMap<number, Range>; // by the place of the feature
  page: number; // from 0
}

export const ALL: Filters = { sort: "index", descending: false, text: "", tag: "", shown: "any", ranges: new Map(), page: 0 };

export class PoolState {
  readonly filters = signal<Filters>(ALL);
  readonly chosen = signal<readonly number[]>([]); // by hand, in the order in which they were chosen

  /** Other filters or another order begin at the first page. */
  set(changes: Partial<Filters>): void {
    this.filters.value = { ...this.filters.value, page: 0, ...changes };
  }

  toggle(index: number): void {
    const { value } = this.chosen;
    this.chosen.value = value.includes(index) ? value.filter((one) => one !== index) : [...value, index];
  }
}

/** "1 trajectory", "1,200 trajectories". */
export function countOf(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "trajectory" : "trajectories"}`;
}

/** Whether anything is filtered out. */
export function isFiltered({ text, tag, shown, ranges }: Filters): boolean {
  return text.trim() !== "" || tag !== "" || shown !== "any" || ranges.size > 0;
}

/** As the server wants it. A limit that is no number is none. */
export function searchOf({ sort, descending, text, tag, shown, ranges, page }: Filters): PoolSearch {
  const [word = "index", place = "0"] = sort.split(" ");
  return {
    sort: word as NonNullable<PoolSearch["sort"]>,
    feature: Number(place),
    descending,
    text: text.trim().slice(0, 200),
    tag,
    shown,
    between: [...ranges].map(([feature, { low, high }]) => `${feature}:${limit(low)}:${limit(high)}`),
    offset: page * PAGE,
    limit: PAGE,
  };
}

function limit(typed: string): string {
  const number = Number(typed);
  return typed.trim() !== "" && Number.isFinite(number) ? String(number) : "";
}
