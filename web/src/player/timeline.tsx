/** The position in the motion: a bar that shows it, and that moves it by dragging or with the arrow keys. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { formatNumber, formatWithUnit } from "../format";
import type { ItemPlayback, Playback, Shown } from "./playback";

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }; // frames

/** A moment that is marked on the bar. */
export interface Moment {
  time: number; // seconds
  text: string;
}

interface TimelineProps {
  playback: Playback;
  item?: number; // of several, which may play one after the other
  name?: string; // of what plays
  moment?: Moment | null;
}

/** Bars of items that play together move together: one of them is enough for the keyboard and for screen readers. */
export function Timeline({ playback, item, name = "", moment = null }: TimelineProps): JSX.Element {
  const own = item === undefined ? playback : playback.item(item);
  const { bar, fill } = usePosition(own);
  const drag = useScrubbing(playback, own);
  const turn = playback.turn.value;
  const extra = turn === null && item !== undefined && item > 0;
  const label = turn !== null && name ? `Time of ${name}` : "Time";
  const slider = { role: "slider", tabIndex: 0, "aria-label": label, "aria-valuemin": 0 } as const;
  return (
    <div class={turn !== null && turn === item ? "timeline-frame timeline-now" : "timeline-frame"}>
      <div class="timeline" ref={bar} {...(extra ? { "aria-hidden": true } : slider)} {...drag}>
        <div class="timeline-groove">
          <div class="timeline-fill" ref={fill} />
        </div>
      </div>
      {moment && <Mark moment={moment} own={own} />}
    </div>
  );
}

function fractionOf({ clock: { time, seconds } }: Shown): number {
  return seconds > 0 ? Math.min(time / seconds, 1) : 0;
}

interface Bar {
  bar: { current: HTMLDivElement | null };
  fill: { current: HTMLDivElement | null };
}

/** The bar is drawn at every frame, so by itself, and not as a component is. */
function usePosition(own: ItemPlayback): Bar {
  const bar = useRef<HTMLDivElement>(null);
  const fill = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = (shown: Shown): void => {
      const { time, seconds } = shown.clock;
      if (fill.current) fill.current.style.transform = `scaleX(${fractionOf(shown).toFixed(4)})`;
      bar.current?.setAttribute("aria-valuenow", time.toFixed(2));
      bar.current?.setAttribute("aria-valuemax", seconds.toFixed(2));
      bar.current?.setAttribute("aria-valuetext", `${formatNumber(Number(time.toFixed(1)))} of ${formatWithUnit(Number(seconds.toFixed(1)), "seconds")}`);
    };
    return own.add({ seconds: () => 0, ready: () => true, show });
  }, [own]);
  return { bar, fill };
}

interface Scrubbing {
  onPointerDown: (event: PointerEvent) => void;
  onMouseDown: (event: MouseEvent) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** While the bar is dragged nothing plays; afterwards it plays on, if it did. The focus stays where it is. */
function useScrubbing(playback: Playback, own: ItemPlayback): Scrubbing {
  const onPointerDown = (event: PointerEvent): void => {
    const bar = event.currentTarget;
    if (!(bar instanceof HTMLElement) || event.button !== 0) return;
    const box = bar.getBoundingClientRect();
    const follow = ({ clientX }: PointerEvent): void => own.seek((own.clock.seconds * (clientX - box.left)) / box.width);
    const plays = playback.hold();
    const end = (): void => {
      bar.removeEventListener("pointermove", follow);
      if (plays) playback.release();
    };
    bar.setPointerCapture(event.pointerId);
    bar.addEventListener("pointermove", follow);
    for (const last of ["pointerup", "pointercancel"]) bar.addEventListener(last, end, { once: true });
    follow(event);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const frames = STEPS[event.key];
    const ends: Record<string, number> = { Home: 0, End: own.clock.seconds };
    const target = frames === undefined ? ends[event.key] : own.clock.time + frames * playback.clock.frame;
    if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    playback.hold();
    own.seek(target);
  };
  return { onPointerDown, onMouseDown: (event) => event.preventDefault(), onKeyDown };
}

/** A button on the bar, which goes to a moment. */
function Mark({ moment: { time, text }, own }: { moment: Moment; own: ItemPlayback }): JSX.Element {
  const mark = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const show = ({ clock: { seconds } }: Shown): void => {
      if (mark.current) mark.current.style.left = `${(100 * (seconds > 0 ? Math.min(time / seconds, 1) : 0)).toFixed(2)}%`;
    };
    return own.add({ seconds: () => 0, ready: () => true, show });
  }, [own, time]);
  return (
    <button
      type="button"
      class="timeline-mark"
      ref={mark}
      title={`${text} (D)`}
      aria-label={text}
      tabIndex={-1} // the key D does the same
      onClick={() => own.seek(time)}
      onMouseDown={(event) => event.preventDefault()}
    />
  );
}
