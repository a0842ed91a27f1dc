/** Measures how long it takes to draw, so that a slow computer can draw with lower quality. */

const SLOW = 1 / 22; // seconds per frame
const MOST_FRAMES = 20; // over which the mean is taken, so that a single slow frame does not count
const MOST_SECONDS = 1; // or so long: where a frame takes seconds, one is enough
const ASLEEP = 10; // seconds: the computer was asleep, or the page was hidden

export class FrameRateMonitor {
  private frames = 0;
  private total = 0;

  constructor(private readonly onSlow: () => void) {}

  /** Call when a frame was drawn. How long that takes shows in when the page draws its next frame, also if it is paused. */
  drawn(): void {
    const start = performance.now();
    requestAnimationFrame(() => this.add((performance.now() - start) / 1000));
  }

  private add(seconds: number): void {
    if (document.hidden || seconds > ASLEEP) return;
    this.frames += 1;
    this.total += seconds;
    if (this.frames < MOST_FRAMES && this.total < MOST_SECONDS) return;
    const slow = this.total / this.frames > SLOW;
    [this.frames, this.total] = [0, 0];
    if (slow) this.onSlow();
  }
}
