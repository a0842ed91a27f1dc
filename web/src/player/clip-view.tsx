/** A video clip: its preparation with progress, the video itself, or why it cannot be played. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { ClipStatus } from "../api";
import { Meter } from "../components";
import { RejectedError, sentence } from "../server";
import { type ClipCache, clipDuration, isReady, synchronize } from "./clips";
import { keepFocus } from "./controls";
import type { ItemPlayback } from "./playback";

const PATIENCE = 400; // milliseconds until the page says that a clip is not there yet, and between two polls
const NOT_DECODED = "This browser cannot play the video. Try another browser.";
const NOT_LOADED = "The video could not be loaded.";

interface ClipProps {
  index: number;
  clips: ClipCache;
  playback: ItemPlayback;
  name: string;
  onProblem?: ((problem: string) => void) | undefined;
}

/** The clip is shown in a layout effect: the playback of its question begins right after it. */
export function ClipView({ index, clips, playback, name, onProblem }: ClipProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState<ClipStatus | null>(null); // null: nothing to say
  const [problem, setProblem] = useState("");
  const [attempt, setAttempt] = useState(0);
  useLayoutEffect(() => {
    setStatus(null);
    setProblem("");
    if (!box.current) return undefined;
    const video = clips.take(index);
    const listener = { onLoad: () => setStatus(null), onStatus: setStatus, onProblem: setProblem };
    const hide = showClip(video, index, box.current, clips, playback);
    const unfollow = followClip(video, index, clips, listener);
    return () => {
      unfollow();
      hide();
    };
  }, [index, clips, playback, attempt]);
  useEffect(() => onProblem?.(problem), [problem, index]);
  return (
    <div class="screen" style={{ "--aspect": clips.aspectOf(index) }}>
      <div class="screen-box" ref={box} role="img" aria-label={name} />
      {status && !problem && <Preparation status={status} />}
      {problem && <Problem text={problem} onRetry={() => setAttempt((count) => count + 1)} />}
    </div>
  );
}

function Preparation({ status: { state, frames, total } }: { status: ClipStatus }): JSX.Element {
  const counted = total === null ? (frames > 0 ? `${frames} frames` : "") : `${frames} of ${total} frames`;
  return (
    <div class="screen-message" role="status">
      <p>{state === "preparing" ? "This clip is being prepared…" : "Loading the clip…"}</p>
      {state === "preparing" && total !== null && <Meter fraction={frames / total} label="Preparation of the clip" />}
      {state === "preparing" && <p class="soft">{counted}</p>}
    </div>
  );
}

function Problem({ text, onRetry }: { text: string; onRetry: () => void }): JSX.Element {
  const retry = (event: Event): void => {
    event.stopPropagation(); // a click on the clip itself is an answer
    onRetry();
  };
  return (
    <div class="screen-message">
      <p>This clip cannot be played.</p>
      <p class="reason">{text}</p>
      <button type="button" class="button" onClick={retry} onMouseDown={keepFocus}>
        Try again
      </button>
    </div>
  );
}

/** Put the video into the box, and keep it in step with the others. */
function showClip(video: HTMLVideoElement, index: number, box: HTMLElement, clips: ClipCache, playback: ItemPlayback): () => void {
  const measure = (): void => {
    clips.measure(index, video);
    playback.measure();
  };
  video.addEventListener("loadedmetadata", measure);
  if (video.readyState > 0) measure(); // it was prefetched
  box.replaceChildren(video);
  const unsubscribe = playback.add({
    mustPlay: true,
    seconds: () => clipDuration(video),
    ready: () => isReady(video),
    show: (shown) => synchronize(video, shown),
  });
  return () => {
    unsubscribe();
    video.removeEventListener("loadedmetadata", measure);
    video.pause();
    video.remove();
  };
}

interface ClipListener {
  onLoad: () => void;
  onStatus: (status: ClipStatus) => void;
  onProblem: (problem: string) => void;
}

/** Report how far a clip is while it loads, and the reason if it cannot be played. */
function followClip(video: HTMLVideoElement, index: number, clips: ClipCache, listener: ClipListener): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const poll = async (): Promise<void> => {
    const status = await clips.status(index).catch(() => null);
    if (stopped || isLoaded(video)) return;
    if (status) listener.onStatus(status);
    timer = setTimeout(() => void poll(), PATIENCE);
  };
  const onError = async (): Promise<void> => {
    clearTimeout(timer);
    const problem = await clips.status(index).then(problemOf, rejectionOf);
    if (!stopped) listener.onProblem(problem);
  };
  const stopPolling = (): void => {
    clearTimeout(timer);
    listener.onLoad();
  };
  const fail = (): void => void onError();
  video.addEventListener("error", fail);
  video.addEventListener("loadeddata", stopPolling);
  if (video.error) fail(); // while it was prefetched
  else if (!isLoaded(video)) timer = setTimeout(() => void poll(), PATIENCE);
  return () => {
    stopped = true;
    clearTimeout(timer);
    video.removeEventListener("error", fail);
    video.removeEventListener("loadeddata", stopPolling);
  };
}

function isLoaded(video: HTMLVideoElement): boolean {
  return video.error !== null || video.readyState >= 2; // HAVE_CURRENT_DATA
}

/** The server's reason; if it has none, the file is whole, and the browser does not know its codec. */
function problemOf({ problem }: ClipStatus): string {
  return problem === null ? NOT_DECODED : sentence(problem);
}

function rejectionOf(error: unknown): string {
  return error instanceof RejectedError ? error.message : NOT_LOADED;
}
