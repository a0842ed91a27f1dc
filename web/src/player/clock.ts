/**
 * The one clock by which all items of a question play.
 *
 *     time           seconds into the motion, from 0 to `seconds`
 *     secondsAtEnd   seconds since the motion ended; after PAUSE it starts again, if it `loops`
 */

export const SPEEDS = [0.25, 0.5, 1, 1.5, 2] as const;
export const PAUSE = 1.2; // seconds; long enough to see how the motion ended

export class Clock {
  time = 0;
  playing = true;
  speed = 1;
  loops = true;
  private secondsAtEnd = 0;

  constructor(
    public seconds = 0,
    public frame = 0.04,
  ) {}

  /** Advance by `elapsed` seconds of real time. */
  advance(elapsed: number): void {
    if (!this.playing || this.seconds <= 0) return;
    this.time += elapsed * this.speed;
    if (this.time < this.seconds) return;
    this.secondsAtEnd += (this.time - this.seconds) / this.speed;
    this.time = this.seconds;
    if (this.loops && this.secondsAtEnd >= PAUSE) this.seek((this.secondsAtEnd - PAUSE) * this.speed);
  }

  get ended(): boolean {
    return this.seconds > 0 && this.time >= this.seconds;
  }

  /** It has been at its end for a moment, so that it was seen. */
  get rested(): boolean {
    return this.ended && this.secondsAtEnd >= PAUSE / 2;
  }

  /** Show the end, for a moment if it plays. */
  toEnd(): void {
    this.seek(this.seconds);
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, 0), this.seconds);
    this.secondsAtEnd = 0;
  }

  replay(): void {
    this.seek(0);
    this.playing = true;
  }

  /** Play or pause. Playing at the end starts again. */
  toggle(): void {
    if (!this.playing && this.time >= this.seconds) this.seek(0);
    this.playing = !this.playing;
  }

  /** Pause, and go to the next whole frame in this direction. */
  step(frames: 1 | -1): void {
    this.playing = false;
    const position = this.time / this.frame;
    const slack = 1e-6; // in floating point 0.12 / 0.04 is less than 3
    const next = frames > 0 ? Math.floor(position + slack) + 1 : Math.ceil(position - slack) - 1;
    this.seek(next * this.frame);
  }

  faster(): void {
    this.speed = SPEEDS.find((speed) => speed > this.speed) ?? this.speed;
  }

  slower(): void {
    this.speed = SPEEDS.findLast((speed) => speed < this.speed) ?? this.speed;
  }
}
