/**
 * Marks of a chart that play what they stand for: a trajectory, or a question that was answered.
 *
 * A click plays the mark that is nearest, within the chart's reach. The marks are one stop of the Tab key: arrow keys go
 * from one to the next, from left to right, and Enter or Space plays.
 */

export type Play = { trajectory: number } | { question: number };
export type OnPlay = (play: Play) => void;

/** What a mark plays, and what a person reads about it. */
export interface Playable {
  play: Play;
  title: string;
}

/** How far from a mark a click may be: pixels, or anywhere in the chart, by both coordinates or by x alone. */
type Reach = "near" | "any" | "x";

const PIXELS = 22; // about half of what a fingertip covers
const plays = new WeakMap<Element, Play>();
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Make the marks of the groups of this class play, in the order of the data that they were drawn from. */
export function makePlayable(chart: Element, group: string, playables: readonly Playable[]): void {
  const marks = [...chart.querySelectorAll(`g.${group} > *`)];
  marks.forEach((mark, i) => {
    const playable = playables[i];
    if (!playable) return;
    plays.set(mark, playable.play);
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = playable.title;
    mark.append(title);
    mark.setAttribute("role", "button");
    mark.setAttribute("aria-label", playable.title);
    mark.setAttribute("tabindex", "-1");
    mark.classList.add("playable");
  });
}

/** The chart, whose marks a click may miss by this much. */
export function withReach(chart: Element, reach: Reach): Element {
  chart.setAttribute("data-reach", reach);
  return chart;
}

function marksOf(box: Element): Element[] {
  return [...box.querySelectorAll(".playable")];
}

interface Place {
  mark: Element;
  x: number;
  y: number;
}

function placeOf(mark: Element): Place {
  const { left, right, top, bottom } = mark.getBoundingClientRect();
  return { mark, x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** The mark that a click means; none if all are too far away. */
export function nearestMark(places: readonly Place[], x: number, y: number, reach: Reach): Element | null {
  const far = (place: Place): number => (reach === "x" ? Math.abs(place.x - x) : Math.hypot(place.x - x, place.y - y));
  let nearest: Place | null = null;
  for (const place of places) if (!nearest || far(place) < far(nearest)) nearest = place;
  return nearest && (reach !== "near" || far(nearest) <= PIXELS) ? nearest.mark : null;
}

/** One mark can be reached by Tab: the one that was focused last, by its place, or the first. */
export function makeFocusable(box: Element, focused = ""): void {
  const marks = marksOf(box);
  const kept = marks.find((mark) => mark.getAttribute("aria-label") === focused);
  (kept ?? marks[0])?.setAttribute("tabindex", "0");
  if (kept instanceof SVGElement) kept.focus();
}

/** The title of the mark that has the focus, to find it again in a chart that is drawn anew. */
export function focusedMark(box: Element): string {
  const { activeElement } = document;
  return activeElement && box.contains(activeElement) ? (activeElement.getAttribute("aria-label") ?? "") : "";
}

/** Play what is clicked, or chosen with keys. */
export function listenForPlays(box: HTMLElement, onPlay: () => OnPlay): () => void {
  const start = (mark: Element | null): void => {
    const play = mark && plays.get(mark);
    if (play) onPlay()(play);
  };
  const onClick = (event: MouseEvent): void => start(clickedMark(box, event));
  const onKey = (event: KeyboardEvent): void => {
    const { target } = event;
    if (!(target instanceof SVGElement) || !plays.has(target)) return;
    if (event.key === "Enter" || event.key === " ") start(target);
    else if (!moveFocus(box, target, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  box.addEventListener("click", onClick);
  box.addEventListener("keydown", onKey);
  return () => {
    box.removeEventListener("click", onClick);
    box.removeEventListener("keydown", onKey);
  };
}

function clickedMark(box: Element, event: MouseEvent): Element | null {
  const { target } = event;
  if (!(target instanceof Element)) return null;
  const reach = (target.closest("[data-reach]")?.getAttribute("data-reach") ?? "near") as Reach;
  return target.closest(".playable") ?? nearestMark(marksOf(box).map(placeOf), event.clientX, event.clientY, reach);
}

/** Focus the next mark by place; says whether the key does that. */
function moveFocus(box: Element, from: SVGElement, key: string): boolean {
  const step = STEPS[key] ?? (key === "Home" ? -Infinity : key === "End" ? Infinity : 0);
  if (step === 0) return false;
  const ordered = marksOf(box).map(placeOf).sort((a, b) => a.x - b.x || a.y - b.y);
  const place = ordered.findIndex(({ mark }) => mark === from) + step;
  const to = ordered[Math.min(Math.max(place, 0), ordered.length - 1)]?.mark;
  if (!(to instanceof SVGElement)) return true;
  from.setAttribute("tabindex", "-1");
  to.setAttribute("tabindex", "0");
  to.focus();
  return true;
}
