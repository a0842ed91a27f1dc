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
  readonly shown = signal<number | null>(null); // the question whose items were all shown to their end
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

  /** Skip through: the end is shown, and the person has seen what they want to see. */
  toEnd(): void {
    this.skippedThrough = true;
    this.clock.toEnd();
    this.changed();
  }

  step(frames: 1 | -1): void {
    this.clock.step(frames);
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

  private isShown(targets: PlaybackTarget[]): boolean {
    const stillClip = this.still && targets.some((target) => target.mustPlay);
    return this.clock.ended && (this.skippedThrough || !stillClip);
  }

  private readonly onFrame = (now: number): void => {
    this.tick = requestAnimationFrame(this.onFrame);
    const elapsed = Math.min((now - this.last) / 1000, LONGEST_STEP);
    this.last = now;
    const targets = Array.from(this.targets);
    if (targets.every((target) => target.ready())) {
      this.clock.advance(elapsed);
      if (this.isShown(targets)) this.shown.value = this.question;
    }
    if (!this.dirty && !this.clock.playing) return;
    this.dirty = false;
    for (const target of targets) target.show(this);
  };
}

function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
