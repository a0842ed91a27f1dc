/** The trajectories at both ends of a component of an embedding, which show what it is. */

import type { JSX } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

import type { Ends } from "../api";
import { LoadingOrError } from "../components";
import { useTrajectories } from "../hooks";
import { PlayOverlay } from "../player/controls";
import { Playback } from "../player/playback";
import { TrajectoryView } from "../player/trajectory-view";
import { frameSeconds, type Trajectories } from "../trajectories";

interface EndsProps {
  name: string; // of the component
  ends: Ends;
  trajectories: Trajectories;
}

/** Both play together, the lowest on the left as in the chart. */
export function EndClips({ name, ends, trajectories }: EndsProps): JSX.Element {
  const shown = [ends.low, ends.high];
  const { items, problem, retry } = useTrajectories(trajectories, shown);
  const playback = useMemo(() => new Playback(), []);
  useLayoutEffect(() => {
    if (items) playback.begin(Math.max(...items.map(frameSeconds)));
  }, [items, playback]);
  if (!items) return <LoadingOrError problem={problem} retry={retry} message="Loading the motion…" />;
  const labels = [`Lowest: ${ends.low_id}`, `Highest: ${ends.high_id}`];
  return (
    <div class="ends" style={{ "--aspect": trajectories.aspectOf(shown) }}>
      {items.map((trajectory, place) => (
        <div class="end" key={place}>
          <div class="clip-frame">
            <TrajectoryView trajectory={trajectory} together={items} playback={playback} name={`${labels[place]}, in ${name}`} />
            {place === 0 && <PlayOverlay playback={playback} />}
          </div>
          <p class="soft">{labels[place]}</p>
        </div>
      ))}
    </div>
  );
}
