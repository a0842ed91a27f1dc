/** One trajectory: as a scene, a video clip, or bars of its features. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { FeatureRange, Replay, Scene } from "../api";
import { formatFeature } from "../format";
import { replaysOf, type Trajectory } from "../trajectories";
import { ClipView } from "./clip-view";
import type { ItemPlayback } from "./playback";
import { SceneView } from "./scene-view";
import { seenBy } from "./solid-camera";
import { viewOptions } from "./view-options";

interface TrajectoryViewProps {
  trajectory: Trajectory;
  together: Trajectory[]; // all trajectories shown together, this one included
  playback: ItemPlayback;
  name: string;
  onProblem?: (problem: string) => void; // why it cannot be shown; "" once it can
}

export function TrajectoryView({ trajectory, together, playback, name, onProblem }: TrajectoryViewProps): JSX.Element {
  const shared = { playback, name, onProblem };
  switch (trajectory.kind) {
    case "scene":
      return <SceneBox scene={trajectory.scene} replay={trajectory.replay} together={together} {...shared} />;
    case "clips":
      return <ClipView index={trajectory.index} clips={trajectory.clips()} {...shared} />;
    case "features":
      return <FeatureBars features={trajectory.features} values={trajectory.values} name={name} />;
  }
}

interface SceneProps {
  scene: Scene;
  replay: Replay;
  together: Trajectory[];
  playback: ItemPlayback;
  name: string;
  onProblem?: ((problem: string) => void) | undefined;
}

/** The view is made and loaded in layout effects: the playback of its question begins right after them. */
function SceneBox({ scene: whole, replay, together, playback, name, onProblem }: SceneProps): JSX.Element {
  const camera = viewOptions().camera.value;
  const scene = useMemo(() => seenBy(whole, camera), [whole, camera]);
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<SceneView | null>(null);
  const [failure, setFailure] = useState("");
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const created = new SceneView(scene, box.current, playback, setFailure);
    view.current = created;
    return () => created.dispose();
  }, [scene, playback]);
  useLayoutEffect(() => view.current?.load(replay, replaysOf(together)), [scene, replay, together, playback]);
  useEffect(() => onProblem?.(failure), [failure, replay]);
  return (
    <div class="screen">
      <div class="screen-box" ref={box} role="img" aria-label={name} />
      {failure && <p class="screen-message">{failure}</p>}
    </div>
  );
}

interface BarsProps {
  features: FeatureRange[];
  values: Record<string, number>;
  name: string;
}

/** All items use the same ranges, so that their bars can be compared. */
function FeatureBars({ features, values, name }: BarsProps): JSX.Element {
  return (
    <dl class="bars" aria-label={name}>
      {features.map((feature) => (
        <div class="bar-row" key={feature.name}>
          <dt>{feature.name}</dt>
          <dd>
            <span class="bar" style={{ visibility: feature.ordered ? "visible" : "hidden" }}>
              <span class="bar-fill" style={{ width: `${100 * fractionOf(feature, values[feature.name])}%` }} />
            </span>
            <span class="bar-value">{formatFeature(feature, values[feature.name])}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Where a value lies in its range, from 0 to 1. */
export function fractionOf({ low, high }: FeatureRange, value: number | undefined): number {
  if (value === undefined || high <= low) return 0;
  return Math.min(Math.max((value - low) / (high - low), 0), 1);
}
