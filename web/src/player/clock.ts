/**
 * The one clock by which both sides of a pair play.
 *
 *     time      seconds into the motion, from 0 to `seconds`
 *     rest      seconds since the motion ended; after PAUSE it begins again
 */

export const SPEEDS = [0.25, 0.5, 1, 1.5, 2] as const;
export const PAUSE = 0.8; // long enough to see how it ended

export class Clock {
  time = 0;
  playing = true;
  speed = 1;
  private secondsAtEnd = 0;

  constructor(
    public seconds = 0,
    public frame = 0.04,
  ) {}

  /** `elapsed` seconds have passed in the room. */
  advance(elapsed: number): void {
    if (!this.playing || this.seconds <= 0) return;
    this.time += elapsed * this.speed;
    if (this.time < this.seconds) return;
    this.secondsAtEnd += (this.time - this.seconds) / this.speed;
    this.time = this.seconds;
    if (this.secondsAtEnd >= PAUSE) this.seek((this.secondsAtEnd - PAUSE) * this.speed);
  }

  /** Go to a time. */
  seek(time: number): void {
    this.time = Math.min(Math.max(time, 0), this.seconds);
    this.secondsAtEnd = 0;
  }

  replay(): void {
    this.seek(0);
    this.playing = true;
  }

  /** Play or pause; to play after the end is to play again. */
  toggle(): void {
    if (!this.playing && this.time >= this.seconds) this.seek(0);
    this.playing = !this.playing;
  }

  /** Stop, and go to the next whole frame in this direction. */
  step(frames: 1 | -1): void {
    this.playing = false;
    const place = this.time / this.frame;
    const slack = 1e-6; // 0.12 / 0.04 is not quite 3
    const next = frames > 0 ? Math.floor(place + slack) + 1 : Math.ceil(place - slack) - 1;
    this.seek(next * this.frame);
  }

  faster(): void {
    this.speed = SPEEDS.find((speed) => speed > this.speed) ?? this.speed;
  }

  slower(): void {
    this.speed = SPEEDS.findLast((speed) => speed < this.speed) ?? this.speed;
  }
}
