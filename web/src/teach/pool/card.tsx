/** The card of a trajectory: its picture, what is known of it, and a box to choose it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FeatureRange, PoolTrajectory } from "../../api";
import { TrajectoryName } from "../../components";
import { formatFeature, formatProbability, formatReward } from "../../format";
import type { Trajectories } from "../../trajectories";
import { TagList } from "../remarks";
import { Thumbnail } from "./thumbnail";

interface CardProps {
  of: PoolTrajectory;
  features: FeatureRange[];
  sortedBy: FeatureRange | undefined; // the feature that the cards are sorted by
  trajectories: Trajectories;
  chosen: boolean;
  onOpen: () => void;
  onChoose: () => void;
}

/** Its picture plays while the pointer or the focus is on it. C chooses it. */
export function PoolCard({ of, features, sortedBy, trajectories, chosen, onOpen, onChoose }: CardProps): JSX.Element {
  const [playing, setPlaying] = useState(false);
  const name = of.id ?? `no. ${of.index}`;
  const onKey = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() === "c" && !event.ctrlKey && !event.metaKey && !event.altKey) onChoose();
  };
  return (
    <li class={chosen ? "pool-card pool-chosen" : "pool-card"} onKeyDown={onKey}>
      <button
        type="button"
        class="pool-open"
        aria-label={`Play ${name}`}
        aria-keyshortcuts="C"
        onClick={onOpen}
        onMouseEnter={() => setPlaying(true)}
        onMouseLeave={() => setPlaying(false)}
        onFocus={() => setPlaying(true)}
        onBlur={() => setPlaying(false)}
      >
        <Thumbnail of={of} features={features} trajectories={trajectories} playing={playing} />
      </button>
      <label class="pool-choose">
        <input type="checkbox" checked={chosen} aria-label={`Choose ${name}`} onChange={onChoose} />
        <span class="pool-name">
          <TrajectoryName index={of.index} id={of.id} />
        </span>
      </label>
      <p class="pool-facts">
        {of.mean !== null && of.std !== null && <span title="Reward, and how unsure it is">{formatReward({ mean: of.mean, std: of.std })}</span>}
        {of.acceptable !== null && <span>{formatProbability(of.acceptable)} acceptable</span>}
        {sortedBy && <span>{`${sortedBy.name} ${formatFeature(sortedBy, of.features[sortedBy.name])}`}</span>}
        {of.shown > 0 && <span class="soft">shown {of.shown}×</span>}
      </p>
      <TagList tags={of.tags} />
      {of.note && <p class="pool-note">{of.note}</p>}
    </li>
  );
}
