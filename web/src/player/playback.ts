/**
 * Playing in step or in turn: one clock, and the views that show its time.
 *
 *     in step   all items show the time of the clock
 *     in turn   the clock is that of one item; those before it show their end, and those after it their start
 */

import { signal } from "@preact/signals";

import { Clock } from "./clock";

/** What a view shows: the time of its item. */
export interface Shown {
  readonly time: number;
  readonly still: boolean; // show the whole path
  readonly waiting: boolean; // for an item that is not ready
  readonly clock: Pick<Clock, "time" | "playing" | "speed" | "seconds">;
}

/** A view that shows the time of its item. */
export interface PlaybackTarget {
  readonly mustPlay?: boolean; // its end alone does not show the motion, as a scene's end with the path does
  seconds(): number;
  ready(): boolean;
  show(shown: Shown): void;
}

/** What the views of one item need of a playback. */
export interface ItemPlayback extends Shown {
  add(target: PlaybackTarget): () => void;
  measure(): void;
  seek(time: number): void;
}

const LONGEST_STEP = 0.25; // seconds; a page that was hidden continues where it stopped

export class Playback {
  readonly playing = signal(true);
  readonly speed = signal(1);
  readonly clock = new Clock();
  readonly started = signal<number | null>(null); // the question whose items are all there
  readonly shown = signal<number | null>(null); // and were shown to their end, or skipped through
  readonly turn = signal<number | null>(null); // the item that plays now, if they play in turn
  readonly since = { current: performance.now() }; // when the first frames of all items were there, in milliseconds
  waiting = true; // for an item that is not ready
  private question = 0;
  private skippedThrough = false;
  private loops = true;
  private readonly targets = new Map<PlaybackTarget, Shown>(); // what each shows
  private readonly items: Item[] = [];
  private readonly ended = new Set<number>(); // items that were seen at their end, in turn
  private drawnAt = 0;
  private tick = 0;
  private dirty = true;

  /** With `reducedMotion`, a setting of the person's system, nothing plays by itself. */
  constructor(readonly reducedMotion: boolean = prefersReducedMotion()) {}

  get time(): number {
    return this.clock.time;
  }

  /** Should a still image show the whole path? */
  get still(): boolean {
    return this.reducedMotion && !this.clock.playing;
  }

  add(target: PlaybackTarget, shown: Shown = this): () => void {
    this.targets.set(target, shown);
    if (this.targets.size === 1) this.tick = requestAnimationFrame(this.onFrame);
    this.dirty = true;
    return () => {
      this.targets.delete(target);
      if (this.targets.size === 0) cancelAnimationFrame(this.tick);
    };
  }

  /** One of several items, which is the same while they play together. */
  item(place: number): ItemPlayback {
    return (this.items[place] ??= new Item(this, place));
  }

  /** Play all together, or one after the other from the first. */
  setInTurn(inTurn: boolean): void {
    if (inTurn === (this.turn.value !== null)) return;
    this.turn.value = inTurn ? 0 : null;
    this.ended.clear();
    this.measure();
    this.clock.seek(0);
    this.changed();
  }

  setLoop(loops: boolean): void {
    this.loops = loops;
    this.dirty = true;
  }

  /** Play a question's trajectories from their start; with reduced motion show their end. */
  begin(frame: number, question = 0): void {
    this.measure();
    this.question = question;
    this.skippedThrough = false;
    this.waiting = true;
    this.since.current = performance.now();
    this.started.value = null;
    this.shown.value = null;
    this.ended.clear();
    this.takeTurn(0);
    this.clock.frame = frame;
    this.clock.playing = !this.reducedMotion;
    this.clock.seek(this.reducedMotion ? this.clock.seconds : 0);
    this.changed();
  }

  /** Set the duration to the longest of all, where shorter ones stay at their end; in turn to that of one item. */
  measure(): void {
    const ended = this.still && this.clock.time >= this.clock.seconds;
    this.clock.seconds = this.secondsOf(this.turn.value);
    if (ended) this.clock.seek(this.clock.seconds); // a video's duration is known only after it has loaded
    this.dirty = true;
  }

  /** How long an item lasts, or the longest of all. */
  secondsOf(place: number | null): number {
    const targets = Array.from(this.targets).filter(([, shown]) => place === null || shown === this.items[place]);
    return Math.max(0, ...targets.map(([target]) => target.seconds()));
  }

  /** The item whose turn comes last. */
  private get last(): number {
    const shown = new Set(this.targets.values());
    return this.items.findLastIndex((item) => shown.has(item));
  }

  toggle(): void {
    if (!this.clock.playing && this.clock.ended && this.turn.value === this.last) this.takeTurn(0);
    this.clock.toggle();
    this.changed();
  }

  replay(): void {
    this.takeTurn(0);
    this.clock.replay();
    this.changed();
  }

  /** Skip through: the end is shown, and the person has seen what they want to see; an answer may follow at once. */
  toEnd(): void {
    this.skippedThrough = true;
    if (this.isReady()) this.observe(performance.now());
    this.takeTurn(this.last);
    this.clock.toEnd();
    this.changed();
  }

  step(frames: 1 | -1): void {
    this.clock.step(frames);
    this.changed();
  }

  /** Go to a time, of an item if one is named and they play in turn; whether it plays stays as it is. */
  seek(time: number, place: number | null = null): void {
    if (place !== null) this.takeTurn(place);
    this.clock.seek(time);
    this.changed();
  }

  /** Pause, and say whether it played. */
  hold(): boolean {
    const { playing } = this.clock;
    this.pause();
    return playing;
  }

  /** Play on from here. */
  release(): void {
    this.clock.playing = true;
    this.changed();
  }

  slower(): void {
    this.clock.slower();
    this.changed();
  }

  faster(): void {
    this.clock.faster();
    this.changed();
  }

  private changed(): void {
    this.playing.value = this.clock.playing;
    this.speed.value = this.clock.speed;
    this.dirty = true;
  }

  private isReady(): boolean {
    return Array.from(this.targets.keys()).every((target) => target.ready());
  }

  private setWaiting(waiting: boolean): void {
    if (waiting !== this.waiting) this.dirty = true; // what waited for others starts, what has to wait stops
    this.waiting = waiting;
  }

  /** Time begins when everything is there, and not when it was asked for. */
  private proceed(now: number, elapsed: number): void {
    if (this.started.value === this.question) this.advance(elapsed);
    this.observe(now);
  }

  private advance(elapsed: number): void {
    const { clock, last } = this;
    const turn = this.turn.value;
    clock.loops = turn === null && this.loops;
    clock.advance(elapsed);
    if (!clock.playing || !clock.ended) return;
    const next = turn !== null && turn < last ? turn + 1 : 0;
    if (next === 0 && !this.loops) this.pause();
    else if (turn !== null && clock.rested) this.seek(0, next);
  }

  private pause(): void {
    this.clock.playing = false;
    this.changed();
  }

  /** Let an item play, if they play in turn. */
  private takeTurn(place: number): void {
    if (this.turn.value === null) return;
    if (this.clock.ended && this.started.value === this.question) this.ended.add(this.turn.value);
    this.turn.value = Math.max(place, 0);
    this.measure();
    this.clock.seek(0);
  }

  /** Was every item seen at its end? In step all end together. */
  private get allEnded(): boolean {
    const { value } = this.turn;
    if (value === null || !this.clock.ended) return this.clock.ended;
    this.ended.add(value);
    return Array.from({ length: this.last + 1 }, (_, i) => i).every((i) => this.ended.has(i));
  }

  /** Record what was shown by now, of items that are ready. */
  private observe(now: number): void {
    if (this.started.value !== this.question) this.since.current = now;
    this.started.value = this.question;
    const stillClip = this.still && Array.from(this.targets.keys()).some((target) => target.mustPlay);
    if (this.skippedThrough || (this.allEnded && !stillClip)) this.shown.value = this.question;
  }

  private readonly onFrame = (now: number): void => {
    this.tick = requestAnimationFrame(this.onFrame);
    const elapsed = Math.min((now - this.drawnAt) / 1000, LONGEST_STEP);
    this.drawnAt = now;
    this.setWaiting(!this.isReady());
    if (!this.waiting) this.proceed(now, elapsed);
    if (!this.dirty && !this.clock.playing) return;
    this.dirty = false;
    for (const [target, shown] of Array.from(this.targets)) target.show(shown);
  };
}

/** An item: its time is the clock's, unless the items play in turn and it is another one's. */
class Item implements ItemPlayback {
  constructor(
    private readonly whole: Playback,
    private readonly place: number,
  ) {}

  get time(): number {
    const turn = this.whole.turn.value;
    if (turn === null || turn === this.place) return this.whole.time;
    return turn < this.place && !this.still ? 0 : this.whole.secondsOf(this.place);
  }

  get still(): boolean {
    return this.whole.still;
  }

  get waiting(): boolean {
    return this.whole.waiting;
  }

  get clock(): Shown["clock"] {
    const { playing, speed, seconds } = this.whole.clock;
    const turn = this.whole.turn.value;
    if (turn === null) return { time: this.time, playing, speed, seconds };
    return { time: this.time, playing: playing && turn === this.place, speed, seconds: this.whole.secondsOf(this.place) };
  }

  add(target: PlaybackTarget): () => void {
    return this.whole.add(target, this);
  }

  measure(): void {
    this.whole.measure();
  }

  seek(time: number): void {
    this.whole.seek(time, this.place);
  }
}

function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
