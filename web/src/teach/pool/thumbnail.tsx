/** A small picture of a trajectory: the path in its scene, an image from the server, or bars of its features. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { FeatureRange, PoolTrajectory, Scene } from "../../api";
import { CanvasRenderer } from "../../player/canvas-renderer";
import { Playback } from "../../player/playback";
import { replayDuration } from "../../player/poses";
import { fractionOf, TrajectoryView } from "../../player/trajectory-view";
import { frameSeconds, type Trajectories, type Trajectory } from "../../trajectories";

const NEAR = "200px"; // how far outside of the window a picture is made
const MOST_BARS = 8;

type FlatTrajectory = Extract<Trajectory, { kind: "scene" }>;
type FlatScene = Extract<Scene, { dimensions: 2 }>;

interface ThumbnailProps {
  of: PoolTrajectory;
  features: FeatureRange[];
  trajectories: Trajectories;
  playing: boolean; // where that is cheap
}

export function Thumbnail({ of, features, trajectories, playing }: ThumbnailProps): JSX.Element {
  const { display } = trajectories;
  if (display.kind === "features") return <Bars of={of} features={features} />;
  if (display.kind === "scene" && display.scene.dimensions === 2) {
    return <ScenePicture key={of.index} index={of.index} scene={display.scene} trajectories={trajectories} playing={playing} />;
  }
  return <ServerPicture key={of.index} path={trajectories.thumbnail(of.index)} />;
}

/** The browser asks for it when it comes into view. */
function ServerPicture({ path }: { path: string }): JSX.Element {
  const [failed, setFailed] = useState(false);
  if (failed) return <p class="pool-no-picture">No picture</p>;
  return <img class="pool-image" src={path} alt="" loading="lazy" decoding="async" onError={() => setFailed(true)} />;
}

interface ScenePictureProps {
  index: number;
  scene: FlatScene;
  trajectories: Trajectories;
  playing: boolean;
}

function ScenePicture({ index, scene, trajectories, playing }: ScenePictureProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const isNear = useNear(box);
  const [trajectory, setTrajectory] = useState<FlatTrajectory | null>(null);
  useEffect(() => {
    if (!isNear) return undefined;
    let unmounted = false;
    const show = (found: Trajectory): void => {
      if (!unmounted && found.kind === "scene") setTrajectory(found);
    };
    trajectories.load(index).then(show, () => undefined);
    return () => void (unmounted = true);
  }, [isNear, index, trajectories]);
  return (
    <div class="pool-scene" ref={box}>
      {trajectory && (playing ? <Moving trajectory={trajectory} /> : <Still trajectory={trajectory} scene={scene} />)}
    </div>
  );
}

/** The end of the motion, with the path to it. */
function Still({ trajectory: { replay }, scene }: { trajectory: FlatTrajectory; scene: FlatScene }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const place = canvas.current;
    if (!place) return undefined;
    const renderer = new CanvasRenderer(scene, place);
    renderer.load(replay, [replay]);
    const draw = (): void => {
      if (place.clientWidth === 0) return;
      renderer.resize(place.clientWidth, place.clientHeight, devicePixelRatio);
      renderer.draw(replayDuration(replay), true);
    };
    const observer = new ResizeObserver(draw);
    observer.observe(place);
    return () => observer.disconnect();
  }, [replay, scene]);
  return <canvas class="pool-canvas" ref={canvas} />;
}

function Moving({ trajectory }: { trajectory: FlatTrajectory }): JSX.Element {
  const playback = useMemo(() => new Playback(), []);
  useLayoutEffect(() => playback.begin(frameSeconds(trajectory)), [playback, trajectory]);
  return <TrajectoryView trajectory={trajectory} together={[trajectory]} playback={playback} name="" />;
}

/** Is the element in view, or near it? Once it was, it stays so. */
function useNear(element: { current: Element | null }): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setNear(true), { rootMargin: NEAR });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isNear;
}

function Bars({ of, features }: Pick<ThumbnailProps, "of" | "features">): JSX.Element {
  const known = features.filter(({ name, ordered }) => ordered && of.features[name] !== undefined);
  return (
    <div class="pool-bars">
      {known.slice(0, MOST_BARS).map((feature) => (
        <span class="pool-bar" key={feature.name}>
          <span style={{ width: `${100 * fractionOf(feature, of.features[feature.name])}%` }} />
        </span>
      ))}
    </div>
  );
}
