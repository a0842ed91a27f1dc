/** Playing in step: one clock, and the views that show its time. */

import { signal } from "@preact/signals";

import { Clock } from "./clock";

/** A view that shows the clock's time. */
export interface PlaybackTarget {
  readonly mustPlay?: boolean; // its end alone does not show the motion, as a scene's end with the path does
  seconds(): number;
  ready(): boolean;
  show(playback: Playback): void;
}

const LONGEST_STEP = 0.25; // seconds; a page that was hidden continues where it stopped

export class Playback {
  readonly playing = signal(true);
  readonly speed = signal(1);
  readonly clock = new Clock();
  readonly started = signal<number | null>(null); // the question whose items are all there
  readonly shown = signal<number | null>(null); // and were shown to their end, or skipped through
  readonly since = { current: performance.now() }; // when the first frames of all items were there, in milliseconds
  waiting = true; // for an item that is not ready
  private question = 0;
  private skippedThrough = false;
  private readonly targets = new Set<PlaybackTarget>();
  private last = 0;
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

  add(target: PlaybackTarget): () => void {
    this.targets.add(target);
    if (this.targets.size === 1) this.tick = requestAnimationFrame(this.onFrame);
    this.dirty = true;
    return () => {
      this.targets.delete(target);
      if (this.targets.size === 0) cancelAnimationFrame(this.tick);
    };
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
    this.clock.frame = frame;
    this.clock.playing = !this.reducedMotion;
    this.clock.seek(this.reducedMotion ? this.clock.seconds : 0);
    this.changed();
  }

  /** Set the duration to the longest of all; shorter ones stay at their end. */
  measure(): void {
    const ended = this.still && this.clock.time >= this.clock.seconds;
    this.clock.seconds = Math.max(0, ...Array.from(this.targets, (target) => target.seconds()));
    if (ended) this.clock.seek(this.clock.seconds); // a video's duration is known only after it has loaded
    this.dirty = true;
  }

  toggle(): void {
    this.clock.toggle();
    this.changed();
  }

  replay(): void {
    this.clock.replay();
    this.changed();
  }

  /** Skip through: the end is shown, and the person has seen what they want to see; an answer may follow at once. */
  toEnd(): void {
    this.skippedThrough = true;
    if (this.isReady()) this.observe(performance.now());
    this.clock.toEnd();
    this.changed();
  }

  step(frames: 1 | -1): void {
    this.clock.step(frames);
    this.changed();
  }

  /** Go to a time; whether it plays stays as it is. */
  seek(time: number): void {
    this.clock.seek(time);
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

  /** Draw at the next frame, even while paused. */
  refresh(): void {
    this.dirty = true;
  }

  private changed(): void {
    this.playing.value = this.clock.playing;
    this.speed.value = this.clock.speed;
    this.dirty = true;
  }

  private isReady(): boolean {
    return Array.from(this.targets).every((target) => target.ready());
  }

  private setWaiting(waiting: boolean): void {
    if (waiting !== this.waiting) this.dirty = true; // what waited for others starts, what has to wait stops
    this.waiting = waiting;
  }

  /** Time begins when everything is there, and not when it was asked for. */
  private proceed(now: number, elapsed: number): void {
    if (this.started.value === this.question) this.clock.advance(elapsed);
    this.observe(now);
  }

  /** Record what was shown by now, of items that are ready. */
  private observe(now: number): void {
    if (this.started.value !== this.question) this.since.current = now;
    this.started.value = this.question;
    const stillClip = this.still && Array.from(this.targets).some((target) => target.mustPlay);
    if (this.skippedThrough || (this.clock.ended && !stillClip)) this.shown.value = this.question;
  }

  private readonly onFrame = (now: number): void => {
    this.tick = requestAnimationFrame(this.onFrame);
    const elapsed = Math.min((now - this.last) / 1000, LONGEST_STEP);
    this.last = now;
    this.setWaiting(!this.isReady());
    if (!this.waiting) this.proceed(now, elapsed);
    if (!this.dirty && !this.clock.playing) return;
    this.dirty = false;
    for (const target of Array.from(this.targets)) target.show(this);
  };
}

function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
