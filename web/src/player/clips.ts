/** Video clips in step with the clock: they play by themselves, and are corrected when they drift. */

import { signal } from "@preact/signals";

import type { ClipStatus } from "../api";
import { filledPath } from "../server";
import type { Playback } from "./playback";

const DRIFT = 0.12; // seconds; less is not visible, and every correction stutters
const FRAME = 1 / 25; // seconds; browsers do not tell the frame rate of a video
const HAVE_FUTURE_DATA = 3; // of HTMLMediaElement.readyState
const MIN_CACHED = 8;

export { FRAME as CLIP_FRAME };

/** The properties of a <video> that keep it in step. */
export type VideoState = Pick<
  HTMLVideoElement,
  "currentTime" | "duration" | "error" | "paused" | "playbackRate" | "readyState" | "seeking" | "pause" | "play"
>;

export function clipDuration(video: VideoState): number {
  return Number.isFinite(video.duration) ? video.duration : 0;
}

/** A clip that cannot be played must not stop the others. */
export function isReady(video: VideoState): boolean {
  if (video.error) return true;
  const ended = clipDuration(video) > 0 && video.currentTime >= clipDuration(video) - FRAME;
  return !video.seeking && (video.readyState >= HAVE_FUTURE_DATA || (ended && video.readyState > 0));
}

/** Set a clip to the clock's time, speed and state. */
export function synchronize(video: VideoState, playback: Pick<Playback, "time" | "clock">): void {
  if (video.error || clipDuration(video) === 0) return;
  const { time, clock } = playback;
  const runs = clock.playing && time < clipDuration(video);
  const target = Math.min(time, clipDuration(video));
  const slack = runs ? DRIFT : FRAME / 4;
  if (!video.seeking && Math.abs(video.currentTime - target) > slack) video.currentTime = target;
  if (video.playbackRate !== clock.speed) video.playbackRate = clock.speed;
  if (runs && video.paused) void video.play().catch(() => undefined); // if the browser refuses, the clip is still moved by seeking
  if (!runs && !video.paused) video.pause();
}

/** The address of a clip; a promise of it where its bytes have to be fetched first. */
export type ClipSource = (index: number) => string | Promise<string>;

const USUAL_ASPECT = 4 / 3; // width by height, until the first clip is loaded

/** <video> elements that load before they are shown; as many as were last asked for are cached. */
export class ClipCache {
  private readonly cached = new Map<number, HTMLVideoElement>();
  private readonly aspects = signal<ReadonlyMap<number, number>>(new Map());

  /**
   * `status` asks the server how far the preparation of a clip is, or why it cannot be played. `source` gives the address
   * of a clip, at once or when it is there.
   */
  constructor(
    readonly status: (index: number) => Promise<ClipStatus>,
    private readonly source: ClipSource = clipPath,
  ) {}

  /** The shape of a clip is known once its video is loaded. */
  measure(index: number, { videoWidth, videoHeight }: Pick<HTMLVideoElement, "videoWidth" | "videoHeight">): void {
    if (videoWidth > 0 && videoHeight > 0) this.aspects.value = new Map(this.aspects.value).set(index, videoWidth / videoHeight);
  }

  /** Width by height of a clip; of one that is not loaded, as of the last one that was. */
  aspectOf(index: number): number {
    return this.aspects.value.get(index) ?? [...this.aspects.value.values()].at(-1) ?? USUAL_ASPECT;
  }

  prefetch(indices: Iterable<number>): void {
    const wanted = new Set(indices);
    for (const index of wanted) if (!this.cached.has(index)) this.cached.set(index, this.create(index));
    for (const index of this.cached.keys()) {
      if (this.cached.size <= Math.max(MIN_CACHED, wanted.size)) return;
      if (!wanted.has(index)) this.cached.delete(index);
    }
  }

  /** The video, taken out of the cache: an element can be in one place of the page only. */
  take(index: number): HTMLVideoElement {
    const video = this.cached.get(index) ?? this.create(index);
    this.cached.delete(index);
    return video;
  }

  private create(index: number): HTMLVideoElement {
    const video = newVideo();
    const source = this.source(index);
    if (typeof source === "string") video.src = source;
    else source.then((address) => void (video.src = address), () => this.fail(index, video));
    return video;
  }

  /** As a video does that cannot be loaded. One that nobody has taken is fetched again when it is needed. */
  private fail(index: number, video: HTMLVideoElement): void {
    if (this.cached.get(index) === video) this.cached.delete(index);
    video.dispatchEvent(new Event("error"));
  }
}

export function clipPath(index: number): string {
  return filledPath("/api/clips/{index}.mp4", { index });
}

function newVideo(): HTMLVideoElement {
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.loop = false;
  video.preload = "auto";
  video.disablePictureInPicture = true;
  return video;
}
