/** Video clips by the clock's time: they play by themselves, and are set right when they drift. */

import type { Playback } from "./playback";

const DRIFT = 0.12; // seconds: less is not seen, and every correction stutters
const FRAME = 1 / 25; // clips do not say how long their frames are
const HAVE_FUTURE_DATA = 3; // readyState HAVE_FUTURE_DATA
const MAX_PREFETCHED = 8;

export { FRAME as CLIP_FRAME };

/** What of a <video> is needed to keep it in step. */
export type VideoState = Pick<
  HTMLVideoElement,
  "currentTime" | "duration" | "error" | "paused" | "playbackRate" | "readyState" | "seeking" | "pause" | "play"
>;

export function clipDuration(video: VideoState): number {
  return Number.isFinite(video.duration) ? video.duration : 0;
}

/** A clip that cannot be played must not hold up the other. */
export function isReady(video: VideoState): boolean {
  if (video.error) return true;
  const ended = clipDuration(video) > 0 && video.currentTime >= clipDuration(video) - FRAME;
  return !video.seeking && (video.readyState >= HAVE_FUTURE_DATA || (ended && video.readyState > 0));
}

/** Bring a clip to the clock's time. */
export function synchronize(video: VideoState, playback: Pick<Playback, "time" | "clock">): void {
  if (video.error || clipDuration(video) === 0) return;
  const { time, clock } = playback;
  const runs = clock.playing && time < clipDuration(video);
  const target = Math.min(time, clipDuration(video));
  const slack = runs ? DRIFT : FRAME / 4;
  if (!video.seeking && Math.abs(video.currentTime - target) > slack) video.currentTime = target;
  if (video.playbackRate !== clock.speed) video.playbackRate = clock.speed;
  if (runs && video.paused) void video.play().catch(() => undefined); // refused: it is still sought frame by frame
  if (!runs && !video.paused) video.pause();
}

/** <video> elements that load before they are needed. */
export class ClipCache {
  private readonly waiting = new Map<number, HTMLVideoElement>();

  prefetch(indices: Iterable<number>): void {
    for (const index of indices) if (!this.waiting.has(index)) this.waiting.set(index, videoOf(index));
    for (const index of this.waiting.keys()) if (this.waiting.size > MAX_PREFETCHED) this.waiting.delete(index);
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
