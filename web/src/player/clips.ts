/** Video clips in step with the clock: they play by themselves, and are corrected when they drift. */

import { signal } from "@preact/signals";

import type { ClipStatus } from "../api";
import { filledPath } from "../server";
import type { Shown } from "./playback";

const DRIFT = 0.12; // seconds; less is not visible, and every correction stutters
const FRAME = 1 / 25; // seconds; browsers do not tell the frame rate of a video
const HAVE_FUTURE_DATA = 3; // of HTMLMediaElement.readyState
const MIN_CACHED = 8;
const AHEAD = 2; // clips that load at the same time before they are shown

export { FRAME as CLIP_FRAME };

/** The properties of a <video> that keep it in step. */
export type VideoState = Pick<
  HTMLVideoElement,
  "currentTime" | "duration" | "error" | "paused" | "playbackRate" | "readyState" | "seeking" | "pause" | "play"
>;

/** What a clip follows. */
export type SharedClock = Pick<Shown, "time" | "clock" | "waiting">;

export function clipDuration(video: VideoState): number {
  return Number.isFinite(video.duration) ? video.duration : 0;
}

/** A clip that cannot be played must not stop the others. */
export function isReady(video: VideoState): boolean {
  if (video.error) return true;
  const ended = clipDuration(video) > 0 && video.currentTime >= clipDuration(video) - FRAME;
  return !video.seeking && (video.readyState >= HAVE_FUTURE_DATA || (ended && video.readyState > 0));
}

/** While the clock waits, a clip does too; but one that has not loaded plays, since some browsers load it only then. */
function runs(video: VideoState, { time, clock, waiting }: SharedClock): boolean {
  const mayRun = !waiting || (!video.seeking && video.readyState < HAVE_FUTURE_DATA);
  return mayRun && clock.playing && time < clipDuration(video);
}

/** Set a clip to the clock's time, speed and state. */
export function synchronize(video: VideoState, playback: SharedClock): void {
  if (video.error || clipDuration(video) === 0) return;
  const { time, clock } = playback;
  const plays = runs(video, playback);
  const target = Math.min(time, clipDuration(video));
  const slack = plays ? DRIFT : FRAME / 4;
  if (!video.seeking && Math.abs(video.currentTime - target) > slack) video.currentTime = target;
  if (video.playbackRate !== clock.speed) video.playbackRate = clock.speed;
  if (plays && video.paused) void video.play().catch(() => undefined); // if the browser refuses, the clip is still moved by seeking
  if (!plays && !video.paused) video.pause();
}

/** The address of a clip; a promise of it where its bytes have to be fetched first. */
export type ClipSource = (index: number) => string | Promise<string>;

const USUAL_ASPECT = 4 / 3; // width by height, until the first clip is loaded

/** <video> elements that load before they are shown; as many as were last asked for are cached. */
export class ClipCache {
  private readonly cached = new Map<number, HTMLVideoElement>();
  private readonly requested = new WeakSet<HTMLVideoElement>();
  private readonly loading = new Set<HTMLVideoElement>(); // of those that are cached
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
    for (const index of wanted) if (!this.cached.has(index)) this.cached.set(index, newVideo());
    for (const [index, video] of this.cached) {
      if (this.cached.size <= Math.max(MIN_CACHED, wanted.size)) break;
      if (!wanted.has(index)) this.drop(index, video);
    }
    this.loadAhead();
  }

  /** The video, taken out of the cache: an element can be in one place of the page only. */
  take(index: number): HTMLVideoElement {
    const video = this.cached.get(index) ?? newVideo();
    this.cached.delete(index);
    this.loading.delete(video);
    this.load(index, video);
    this.loadAhead();
    return video;
  }

  /** A few at a time: each waits for the server to prepare it, and takes one of the few connections of a browser. */
  private loadAhead(): void {
    for (const [index, video] of this.cached) {
      if (this.loading.size >= AHEAD) return;
      if (this.requested.has(video)) continue;
      this.loading.add(video);
      const next = (): void => {
        if (this.loading.delete(video)) this.loadAhead();
      };
      for (const end of ["loadeddata", "error"]) video.addEventListener(end, next);
      this.load(index, video);
    }
  }

  private load(index: number, video: HTMLVideoElement): void {
    if (this.requested.has(video)) return;
    this.requested.add(video);
    const source = this.source(index);
    if (typeof source === "string") video.src = source;
    else source.then((address) => void (video.src = address), () => this.fail(index, video));
  }

  private drop(index: number, video: HTMLVideoElement): void {
    this.cached.delete(index);
    if (!this.loading.delete(video)) return;
    video.removeAttribute("src"); // gives its connection back
    video.load();
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
