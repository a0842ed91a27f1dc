/** Trajectories that the reward likes most and least, side by side: what it is about, without any number. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Ends, RankedTrajectory } from "../api";
import { Card } from "../components";
import type { Trajectories } from "../trajectories";
import { EndClips } from "./ends";

interface RewardEndsProps {
  best: RankedTrajectory[]; // each different from the others
  worst: RankedTrajectory[];
  trajectories: Trajectories;
}

/** One pair plays at a time: more would be hard to take in, and much to decode. */
export function RewardEnds({ best, worst, trajectories }: RewardEndsProps): JSX.Element | null {
  const [shown, setShown] = useState(0);
  const pairs = best.flatMap((high, place) => pairOf(worst[place], high));
  const pair = pairs[shown] ?? pairs[0];
  if (!pair) return null;
  return (
    <Card title="What it likes least and most">
      <p class="soft">On the left a trajectory with one of the lowest rewards, on the right one with one of the highest. Each pair has different ones.</p>
      <div class="switch" role="group" aria-label="Which pair">
        {pairs.map((_, place) => (
          <button key={place} type="button" class="option" aria-pressed={place === shown} onClick={() => setShown(place)}>
            {place === 0 ? "Extremes" : `Pair ${place + 1}`}
          </button>
        ))}
      </div>
      <div class="reward-ends">
        <EndClips key={shown} name="reward" ends={pair} trajectories={trajectories} />
      </div>
    </Card>
  );
}

function pairOf(low: RankedTrajectory | undefined, high: RankedTrajectory): Ends[] {
  if (!low || low.index === high.index) return [];
  const named = ({ index, id }: RankedTrajectory): string => id ?? `no. ${index}`;
  return [{ low: low.index, high: high.index, low_id: named(low), high_id: named(high) }];
}
