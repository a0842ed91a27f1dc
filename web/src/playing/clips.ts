/** Video clips by the clock's time: they play by themselves, and are set right when they drift. */

import type { Playback } from "./playback";

const DRIFT = 0.12; // seconds: less is not seen, and every correction stutters
const FRAME = 1 / 25; // clips do not say how long their frames are
const ENOUGH = 3; // readyState HAVE_FUTURE_DATA
const KEPT = 8;

export { FRAME as CLIP_FRAME };

/** What of a <video> is needed to keep it in step. */
export type Reel = Pick<
  HTMLVideoElement,
  "currentTime" | "duration" | "error" | "paused" | "playbackRate" | "readyState" | "seeking" | "pause" | "play"
>;

export function lengthOf(reel: Reel): number {
  return Number.isFinite(reel.duration) ? reel.duration : 0;
}

/** A clip that cannot be played must not hold up the other. */
export function isReady(reel: Reel): boolean {
  if (reel.error) return true;
  const ended = lengthOf(reel) > 0 && reel.currentTime >= lengthOf(reel) - FRAME;
  return !reel.seeking && (reel.readyState >= ENOUGH || (ended && reel.readyState > 0));
}

/** Bring a clip to the clock's time. */
export function follow(reel: Reel, playback: Pick<Playback, "time" | "clock">): void {
  if (reel.error || lengthOf(reel) === 0) return;
  const { time, clock } = playback;
  const runs = clock.playing && time < lengthOf(reel);
  const target = Math.min(time, lengthOf(reel));
  const slack = runs ? DRIFT : FRAME / 4;
  if (!reel.seeking && Math.abs(reel.currentTime - target) > slack) reel.currentTime = target;
  if (reel.playbackRate !== clock.speed) reel.playbackRate = clock.speed;
  if (runs && reel.paused) void reel.play().catch(() => undefined); // refused: it is still sought frame by frame
  if (!runs && !reel.paused) reel.pause();
}

/** <video> elements that load before they are needed. */
export class Clips {
  private readonly waiting = new Map<number, HTMLVideoElement>();

  prefetch(indices: Iterable<number>): void {
    for (const index of indices) if (!this.waiting.has(index)) this.waiting.set(index, videoOf(index));
    for (const index of this.waiting.keys()) if (this.waiting.size > KEPT) this.waiting.delete(index);
  }

  /** The clip, for one screen alone. */
  take(index: number): HTMLVideoElement {
    const video = this.waiting.get(index) ?? videoOf(index);
    this.waiting.delete(index);
    return video;
  }
}

function videoOf(index: number): HTMLVideoElement {
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.loop = false;
  video.preload = "auto";
  video.disablePictureInPicture = true;
  video.src = `/api/clips/${index}.mp4`;
  return video;
}
