/** What is acceptable: how many trajectories are, where the bar lies, and which are nearest to it. */

import type { JSX } from "preact";

import type { AcceptableTrajectories, FeatureEffect } from "../api";
import { Card } from "../components";
import { formatFromAverage } from "../format";
import type { Trajectories } from "../trajectories";
import { RankedList } from "./ranking";
import { Meaning } from "./statements";

interface AcceptableProps {
  acceptable: AcceptableTrajectories;
  features: FeatureEffect[]; // the most important first
  trajectories: Trajectories;
}

export function Acceptable({ acceptable, features, trajectories }: AcceptableProps): JSX.Element {
  const { count, total, bar, nearest } = acceptable;
  const [low, high] = [Math.round(count.low), Math.round(count.high)];
  return (
    <Card title="What is acceptable">
      <div class="accuracy">
        <p class="big-number">
          {Math.round(count.mean)} <span class="of-total">of {total}</span>
        </p>
        <div>
          <Meaning of={`About so many trajectories are acceptable: probably between ${low} and ${high}`}>
            So many trajectories have a reward above what you find just acceptable, as far as your answers say. The
            range is 90% sure.
          </Meaning>
          <Meaning of={`Just acceptable is a reward ${formatFromAverage(bar.mean)}`}>
            With 90% certainty between {formatFromAverage(bar.low)} and {formatFromAverage(bar.high)}, in standard
            deviations of the reward over all trajectories. A dashed line shows it in the charts below.
          </Meaning>
        </div>
      </div>
      <h3>Just acceptable</h3>
      <p class="soft">
        The trajectories that are nearest to it, with their rank among all, their reward, and the probability that you
        find them acceptable.
      </p>
      <RankedList ranked={nearest} features={features} trajectories={trajectories} />
    </Card>
  );
}
