/** How a scene looks before anything moves: where its parts are, with their labels. */

import type { JSX } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

import { useTrajectories } from "../hooks";
import { frameSeconds, type Trajectories } from "../trajectories";
import { Playback } from "./playback";
import { TrajectoryView } from "./trajectory-view";

const ANY = 0; // all trajectories begin in the same scene

export function StartView({ trajectories, name }: { trajectories: Trajectories; name: string }): JSX.Element {
  const { items } = useTrajectories(trajectories, [ANY]);
  const playback = useMemo(() => new Playback(false), []);
  const [trajectory] = items ?? [];
  useLayoutEffect(() => {
    if (!trajectory) return;
    playback.begin(frameSeconds(trajectory));
    playback.toggle(); // paused at its first frame
  }, [trajectory, playback]);
  return (
    <div class="start-view clip-frame" style={{ "--aspect": trajectories.aspectOf([ANY]) }}>
      {items && trajectory && <TrajectoryView trajectory={trajectory} together={items} playback={playback} name={name} />}
      {!trajectory && <div class="screen" />}
    </div>
  );
}
