/** An order of some items, from the best to the worst, and what a person does to it. */

/** The items that have a place so far, the best first; `tied[i]`: item i has the place of the one before it. */
export interface Order {
  items: readonly number[];
  tied: readonly boolean[];
}

export const NOTHING: Order = { items: [], tied: [] };

/** Put an item at the end, or take it out. */
export function toggled({ items, tied }: Order, item: number, together: boolean): Order {
  const at = items.indexOf(item);
  if (at >= 0) return cleaned(without(items, at), without(tied, at));
  return { items: [...items, item], tied: [...tied, together && items.length > 0] };
}

/** The order with the last item, if it is the only one without a place: a person need not choose it. */
export function completed({ items, tied }: Order, count: number, together: boolean): Order {
  const left = unplaced(items, count);
  return left.length === 1 ? { items: [...items, ...left], tied: [...tied, together] } : { items, tied };
}

/** The items without a place. */
export function unplaced(items: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, i) => i).filter((item) => !items.includes(item));
}

/** Put an item at a place, wherever it was. */
export function movedTo({ items, tied }: Order, item: number, place: number): Order {
  const at = items.indexOf(item);
  const rest = at < 0 ? [...items] : without(items, at);
  const marks = at < 0 ? [...tied] : without(tied, at);
  const to = Math.min(Math.max(place, 0), rest.length);
  return cleaned([...rest.slice(0, to), item, ...rest.slice(to)], [...marks.slice(0, to), false, ...marks.slice(to)]);
}

/** Join an item with the one before it, or separate them. */
export function tieToggled({ items, tied }: Order, place: number): Order {
  return { items, tied: tied.map((mark, i) => (i === place && i > 0 ? !mark : mark)) };
}

/** The answer's word: "2>1=3" names items by their positions, from 1. */
export function rankingWord({ items, tied }: Order): string {
  return items.map((item, i) => (i === 0 ? "" : tied[i] ? "=" : ">") + String(item + 1)).join("");
}

/** The place of each item, as people count it; null without one. */
export function placesOf({ items, tied }: Order, count: number): (number | null)[] {
  const places: (number | null)[] = Array.from({ length: count }, () => null);
  items.forEach((item, i) => (places[item] = tied[i] ? (places[items[i - 1] ?? 0] ?? 1) : i + 1));
  return places;
}

function without<T>(list: readonly T[], at: number): T[] {
  return [...list.slice(0, at), ...list.slice(at + 1)];
}

/** The first item has a place of its own. */
function cleaned(items: number[], tied: boolean[]): Order {
  return { items, tied: tied.map((mark, i) => i > 0 && mark) };
}
