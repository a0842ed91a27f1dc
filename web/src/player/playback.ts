/** Everything that plays together: one clock, and the screens that show its time. */

import { signal } from "@preact/signals";

import { Clock } from "./clock";

/** Something that shows a time of the clock. */
export interface PlaybackTarget {
  seconds(): number;
  ready(): boolean;
  show(playback: Playback): void;
}

const LONGEST_STEP = 0.25; // a window that was hidden goes on where it was

export class Playback {
  readonly playing = signal(true);
  readonly speed = signal(1);
  readonly clock = new Clock();
  private readonly targets = new Set<PlaybackTarget>();
  private last = 0;
  private tick = 0;
  private dirty = true;

  /** `calm`: the person asked for no motion, so nothing plays by itself. */
  constructor(readonly reducedMotion: boolean = prefersReducedMotion()) {}

  get time(): number {
    return this.clock.time;
  }

  /** A still picture is to show the whole way. */
  get trail(): boolean {
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

  /** Something new is on the screens: play it from its start, or show its end to those who want no motion. */
  begin(frame: number): void {
    this.measure();
    this.clock.frame = frame;
    this.clock.playing = !this.reducedMotion;
    this.clock.seek(this.reducedMotion ? this.clock.seconds : 0);
    this.changed();
  }

  /** As long as the longest; what is shorter rests at its end. */
  measure(): void {
    const ended = this.trail && this.clock.time >= this.clock.seconds;
    this.clock.seconds = Math.max(0, ...Array.from(this.targets, (target) => target.seconds()));
    if (ended) this.clock.seek(this.clock.seconds); // a clip says late how long it is
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

  /** Draw again with the next frame, also while nothing plays. */
  refresh(): void {
    this.dirty = true;
  }

  private changed(): void {
    this.playing.value = this.clock.playing;
    this.speed.value = this.clock.speed;
    this.dirty = true;
  }

  private readonly onFrame = (now: number): void => {
    this.tick = requestAnimationFrame(this.onFrame);
    const elapsed = Math.min((now - this.last) / 1000, LONGEST_STEP);
    this.last = now;
    const targets = Array.from(this.targets);
    if (targets.every((target) => target.ready())) this.clock.advance(elapsed);
    if (!this.dirty && !this.clock.playing) return;
    this.dirty = false;
    for (const target of targets) target.show(this);
  };
}

export function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
