/** One trajectory on the page: a scene, a clip, or bars of its features. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { FeatureRange, Replay, Scene } from "../contract";
import { withUnit } from "../figures";
import type { Act } from "../theatre";
import { type Clips, follow, isReady, lengthOf } from "./clips";
import type { Playback } from "./playback";
import { StageView } from "./stage";

interface ScreenProps {
  act: Act;
  among: Act[]; // all that is shown beside it, itself too
  playback: Playback;
  name: string;
}

export function Screen({ act, among, playback, name }: ScreenProps): JSX.Element {
  switch (act.kind) {
    case "scene":
      return <SceneScreen scene={act.scene} replay={act.replay} among={among} playback={playback} name={name} />;
    case "clips":
      return <ClipScreen index={act.index} clips={act.clips} playback={playback} name={name} />;
    case "features":
      return <FeatureBars features={act.features} values={act.values} name={name} />;
  }
}

interface SceneProps {
  scene: Scene;
  replay: Replay;
  among: Act[];
  playback: Playback;
  name: string;
}

function SceneScreen({ scene, replay, among, playback, name }: SceneProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const stage = useRef<StageView | null>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    if (!box.current) return undefined;
    const view = new StageView(scene, box.current, playback, setFailure);
    stage.current = view;
    return () => view.dispose();
  }, [scene, playback]);
  useEffect(() => stage.current?.load(replay, replaysOf(among)), [scene, replay, among, playback]);
  return (
    <div class="screen">
      <div class="screen-box" ref={box} role="img" aria-label={name} />
      {failure && <p class="screen-words">{failure}</p>}
    </div>
  );
}

function replaysOf(acts: Act[]): Replay[] {
  return acts.flatMap((act) => (act.kind === "scene" ? [act.replay] : []));
}

interface ClipProps {
  index: number;
  clips: Clips;
  playback: Playback;
  name: string;
}

function ClipScreen({ index, clips, playback, name }: ClipProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    setFailed(false);
    return box.current ? showClip(clips.take(index), box.current, playback, () => setFailed(true)) : undefined;
  }, [index, clips, playback]);
  return (
    <div class="screen">
      <div class="screen-box" ref={box} role="img" aria-label={name} />
      {failed && <p class="screen-words">This clip could not be played. Skip this pair, or reload the page.</p>}
    </div>
  );
}

function showClip(video: HTMLVideoElement, box: HTMLElement, playback: Playback, onError: () => void): () => void {
  const measure = (): void => playback.measure();
  video.addEventListener("loadedmetadata", measure);
  video.addEventListener("error", onError);
  if (video.error) onError(); // it was loaded ahead, and nobody listened then
  box.replaceChildren(video);
  const leave = playback.add({
    seconds: () => lengthOf(video),
    ready: () => isReady(video),
    show: () => follow(video, playback),
  });
  return () => {
    leave();
    video.removeEventListener("loadedmetadata", measure);
    video.removeEventListener("error", onError);
    video.pause();
    video.remove();
  };
}

interface BarsProps {
  features: FeatureRange[];
  values: Record<string, number>;
  name: string;
}

/** Both sides use the same ranges, so that bars can be compared across. */
function FeatureBars({ features, values, name }: BarsProps): JSX.Element {
  return (
    <dl class="bars" aria-label={name}>
      {features.map((feature) => (
        <div class="bar-row" key={feature.name}>
          <dt>{feature.name}</dt>
          <dd>
            <span class="bar">
              <span class="bar-fill" style={{ width: `${100 * shareOf(feature, values[feature.name])}%` }} />
            </span>
            <span class="bar-value">{withUnit(values[feature.name], feature.unit)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How far along its range a value lies, from 0 to 1. */
export function shareOf({ low, high }: FeatureRange, value: number | undefined): number {
  if (value === undefined || high <= low) return 0;
  return Math.min(Math.max((value - low) / (high - low), 0), 1);
}
