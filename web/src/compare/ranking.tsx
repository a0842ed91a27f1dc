/** A ranking in the making: tap, press a number or drag, from the best to the worst. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { keepFocus } from "../player/controls";
import { itemLabel } from "./layout";

/** The items that have a place so far, the best first; `tied[i]`: item i shares its place with the one before it. */
export interface Order {
  items: readonly number[];
  tied: readonly boolean[];
}

const NOTHING: Order = { items: [], tied: [] };

/** Put an item at the end, or take it out. The last item that is left follows by itself. */
export function toggled({ items, tied }: Order, item: number, count: number, together: boolean): Order {
  const at = items.indexOf(item);
  if (at >= 0) return cleaned(without(items, at), without(tied, at));
  const order = { items: [...items, item], tied: [...tied, together && items.length > 0] };
  if (order.items.length !== count - 1 || together) return order;
  const last = Array.from({ length: count }, (_, i) => i).filter((i) => !order.items.includes(i));
  return { items: [...order.items, ...last], tied: [...order.tied, false] };
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

/** The first item shares its place with nobody before it. */
function cleaned(items: number[], tied: boolean[]): Order {
  return { items, tied: tied.map((mark, i) => i > 0 && mark) };
}

export interface RankingState {
  order: Order;
  together: boolean; // the next item shares the place of the last one
  complete: boolean;
  toggle: (item: number) => void;
  move: (item: number, place: number) => void;
  tie: (place?: number) => void;
}

/** The ranking of one question: another question begins with an empty one. */
export function useRanking(question: number, count: number): RankingState {
  const [order, setOrder] = useState(NOTHING);
  const [together, setTogether] = useState(false);
  useLayoutEffect(() => {
    setOrder(NOTHING);
    setTogether(false);
  }, [question]);
  const complete = order.items.length === count;
  return {
    order,
    together,
    complete,
    toggle: (item) => {
      setOrder((before) => toggled(before, item, count, together));
      setTogether(false);
    },
    move: (item, place) => setOrder((before) => movedTo(before, item, place)),
    tie: (place) => {
      if (place !== undefined) setOrder((before) => tieToggled(before, place));
      else if (complete) setOrder((before) => tieToggled(before, before.items.length - 1));
      else setTogether((before) => !before && order.items.length > 0);
    },
  };
}

interface RankingProps {
  ranking: RankingState;
  count: number;
  ties: boolean;
  blocked: boolean;
  onSubmit: () => void;
}

export function Ranking({ ranking, count, ties, blocked, onSubmit }: RankingProps): JSX.Element {
  const { order, complete } = ranking;
  const waiting = Array.from({ length: count }, (_, i) => i).filter((item) => !order.items.includes(item));
  const drag = useDrag(ranking);
  return (
    <div class="ranking" role="group" aria-label="Your ranking, the best first">
      <ol class="ranked" ref={drag.list}>
        {order.items.map((item, place) => (
          <li key={item} class="ranked-item">
            {place > 0 && <Between tied={order.tied[place] ?? false} ties={ties} onClick={() => ranking.tie(place)} />}
            <Chip item={item} place={place} drag={drag} onClick={() => ranking.toggle(item)} />
          </li>
        ))}
        {waiting.map((item, i) => (
          <li key={item} class="ranked-item">
            {i === 0 && ranking.together && <span class="between">=</span>}
            <Chip item={item} place={null} drag={drag} onClick={() => ranking.toggle(item)} />
          </li>
        ))}
      </ol>
      <button type="button" class="answer answer-submit" aria-disabled={blocked || !complete} onClick={onSubmit} onMouseDown={keepFocus}>
        <span>
          <strong>{complete ? "This is my order" : hint(order.items.length)}</strong>
        </span>
        <span class="hint" aria-hidden="true">
          <kbd>Enter</kbd>
        </span>
      </button>
    </div>
  );
}

function hint(placed: number): string {
  return placed === 0 ? "Choose the best first" : "Choose the next best";
}

function Between({ tied, ties, onClick }: { tied: boolean; ties: boolean; onClick: () => void }): JSX.Element {
  if (!ties) return <span class="between">&gt;</span>;
  const label = tied ? "About equal: separate them" : "Better: say that they are about equal";
  return (
    <button type="button" class="between" aria-label={label} aria-pressed={tied} onClick={onClick} onMouseDown={keepFocus}>
      {tied ? "=" : ">"}
    </button>
  );
}

interface ChipProps {
  item: number;
  place: number | null;
  drag: Drag;
  onClick: () => void;
}

function Chip({ item, place, drag, onClick }: ChipProps): JSX.Element {
  const name = itemLabel(item);
  const label = place === null ? `${name}, without a place yet` : `${name}, place ${place + 1}`;
  const classes = ["chip", place === null ? "chip-waiting" : "", drag.item === item ? "chip-dragged" : ""];
  return (
    <button
      type="button"
      class={classes.join(" ")}
      data-item={item}
      aria-label={label}
      onPointerDown={(event) => drag.start(event, item)}
      onClick={() => !drag.moved() && onClick()}
    >
      {name}
    </button>
  );
}

interface Drag {
  list: { current: HTMLOListElement | null };
  item: number | null;
  moved: () => boolean;
  start: (event: PointerEvent, item: number) => void;
}

const FAR = 8; // pixels: a shorter way is a tap

/** Drag a chip with the mouse or a finger: it takes the place of the chip that it is dragged over. */
function useDrag(ranking: RankingState): Drag {
  const list = useRef<HTMLOListElement>(null);
  const [item, setItem] = useState<number | null>(null);
  const moved = useRef(false);
  const latest = useRef(ranking);
  latest.current = ranking;
  const start = (event: PointerEvent, dragged: number): void => {
    const from = { x: event.clientX, y: event.clientY };
    moved.current = false;
    const onMove = (to: PointerEvent): void => {
      if (!moved.current && Math.hypot(to.clientX - from.x, to.clientY - from.y) < FAR) return;
      moved.current = true;
      setItem(dragged);
      const place = placeUnder(list.current, to, dragged, latest.current.order);
      if (place !== null) latest.current.move(dragged, place);
    };
    const onEnd = (): void => {
      setItem(null);
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onEnd);
      window.removeEventListener("pointercancel", onEnd);
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onEnd);
    window.addEventListener("pointercancel", onEnd);
  };
  return { list, item, moved: () => moved.current, start };
}

/** The place among the ranked items that the pointer is at; null if it is where the item is already. */
function placeUnder(list: HTMLElement | null, { clientX, clientY }: PointerEvent, dragged: number, order: Order): number | null {
  if (!list) return null;
  const ranked = order.items.filter((item) => item !== dragged);
  const before = ranked.filter((item) => {
    const chip = list.querySelector(`[data-item="${item}"]`)?.getBoundingClientRect();
    if (!chip) return false;
    const sameRow = clientY >= chip.top - 4 && clientY <= chip.bottom + 4;
    return sameRow ? clientX > chip.left + chip.width / 2 : clientY > chip.bottom;
  });
  return order.items.indexOf(dragged) === before.length ? null : before.length;
}
