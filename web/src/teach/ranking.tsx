/** Trajectories with their ranks and rewards, of which the selected one plays. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FeatureEffect, RankedTrajectory } from "../api";
import { Card, TrajectoryName } from "../components";
import { formatFeature, formatProbability, formatReward } from "../format";
import { Player } from "../player/player";
import type { Trajectories } from "../trajectories";

const MOST_VALUES = 4; // features of a trajectory that are written out: those that matter most

interface RankingProps {
  ranked: RankedTrajectory[];
  features: FeatureEffect[]; // the most important first
  trajectories: Trajectories;
}

/** Different trajectories among those with the highest reward. */
export function Ranking(props: RankingProps): JSX.Element {
  return (
    <Card title="The best trajectories, each different from the others">
      <p class="soft">
        With their rank among all, and how far their reward is above that of the average trajectory, in standard
        deviations of the reward over all trajectories.
      </p>
      <RankedList {...props} />
    </Card>
  );
}

export function RankedList({ ranked, features, trajectories }: RankingProps): JSX.Element {
  const [selected, setSelected] = useState(ranked[0]?.index);
  const playing = ranked.find(({ index }) => index === selected) ?? ranked[0];
  return (
    <div class="ranks-and-motion">
      {playing && <Player trajectories={trajectories} index={playing.index} name={`The trajectory of rank ${playing.rank}`} />}
      <ol class="ranks">
        {ranked.map((one) => (
          <li key={one.index}>
            <button type="button" class="rank" aria-pressed={one === playing} onClick={() => setSelected(one.index)}>
              <span class="rank-number">{one.rank}</span>
              <span>
                <TrajectoryName index={one.index} id={one.id} />
                <FeatureValues of={one} features={features.slice(0, MOST_VALUES)} />
              </span>
              <span class="rank-reward">
                {formatReward(one)}
                {one.acceptable !== null && <span class="rank-acceptable">{formatProbability(one.acceptable)} acceptable</span>}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** A line may break between features, not within one. */
function FeatureValues({ of, features }: { of: RankedTrajectory; features: FeatureEffect[] }): JSX.Element {
  const texts = features.map((feature) => `${feature.name} ${formatFeature(feature, of.features[feature.name])}`);
  return (
    <span class="rank-features">
      {texts.map((text, i) => (
        <span key={i}>{i < texts.length - 1 ? `${text}, ` : text}</span>
      ))}
    </span>
  );
}
