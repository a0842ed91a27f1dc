/** A player for one trajectory. */

import type { JSX } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

import { LoadingOrError } from "../components";
import { useTrajectories } from "../hooks";
import { frameSeconds, isPlayable, type Trajectories } from "../trajectories";
import { Controls, PlayOverlay } from "./controls";
import { Playback } from "./playback";
import { Timeline } from "./timeline";
import { TrajectoryView } from "./trajectory-view";

export function Player({ trajectories, index, name }: { trajectories: Trajectories; index: number; name: string }): JSX.Element {
  const { items, problem, retry } = useTrajectories(trajectories, [index]);
  const playback = useMemo(() => new Playback(), []);
  const [trajectory] = items ?? [];
  useLayoutEffect(() => {
    if (trajectory) playback.begin(frameSeconds(trajectory));
  }, [trajectory, playback]);
  if (!items || !trajectory) return <LoadingOrError problem={problem} retry={retry} message="Loading the motion…" />;
  return (
    <div class="player" style={{ "--aspect": trajectories.aspectOf([index]) }}>
      <div class="clip-frame">
        <TrajectoryView trajectory={trajectory} together={items} playback={playback} name={name} />
        {isPlayable(trajectory) && <PlayOverlay playback={playback} />}
      </div>
      {isPlayable(trajectory) && <Timeline playback={playback} />}
      {isPlayable(trajectory) && <Controls playback={playback} />}
    </div>
  );
}
