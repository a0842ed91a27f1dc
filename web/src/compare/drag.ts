/** Dragging the chips of a ranking, with the mouse or a finger. */

import { useRef, useState } from "preact/hooks";

import type { Order } from "./order";

export interface Drag {
  list: { current: HTMLOListElement | null };
  item: number | null;
  moved: () => boolean;
  start: (event: PointerEvent, item: number) => void;
}

/** What is needed of a ranking to drag its items. */
interface Movable {
  order: Order;
  move: (item: number, place: number) => void;
}

const FAR = 8; // pixels: a shorter way is a tap

/** Drag a chip with the mouse or a finger: it takes the place of the chip that it is dragged over. */
export function useDrag(ranking: Movable): Drag {
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
