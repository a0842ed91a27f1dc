/** The trajectories that stand for the pool in charts, as a person reads about them. */

import type { FeatureEffect, PoolSample } from "../api";
import { formatFeature, formatReward } from "../format";
import type { Playable } from "./playable";

const MOST_VALUES = 4; // features in a title: those that matter most

export class Sampled {
  private readonly rows: Map<number, number>;

  /** `features` are the most important first. */
  constructor(
    readonly sample: PoolSample,
    private readonly features: readonly Pick<FeatureEffect, "name" | "unit" | "levels">[],
  ) {
    this.rows = new Map(sample.items.map((item, row) => [item, row]));
  }

  /** Which trajectory it is. */
  nameOf(item: number): string {
    return this.idOf(item) ?? `no. ${item}`;
  }

  idOf(item: number): string | null {
    const row = this.rows.get(item);
    return row === undefined ? null : (this.sample.ids?.[row] ?? null);
  }

  /** The value of a feature, for each trajectory of the sample. */
  values(feature: string): number[] {
    return this.sample.values[feature] ?? [];
  }

  /** Which trajectory it is, its reward, and its values of the features that matter most. */
  titleOf(item: number): string {
    const row = this.rows.get(item);
    if (row === undefined) return this.nameOf(item);
    const values = this.features.slice(0, MOST_VALUES).map((one) => `${one.name} ${formatFeature(one, this.values(one.name)[row])}`);
    return [this.nameOf(item), this.rewardOf(item), ...values].filter(Boolean).join(", ");
  }

  /** In standard deviations above the average trajectory; empty where it is not known. */
  rewardOf(item: number): string {
    const row = this.rows.get(item) ?? -1;
    const [mean, std] = [this.sample.mean[row], this.sample.std[row]];
    return mean === undefined || std === undefined ? "" : `reward ${formatReward({ mean, std })}`;
  }

  /** Every trajectory of the sample, as a mark that plays it. */
  playables(): Playable[] {
    return this.sample.items.map((item) => ({ play: { trajectory: item }, title: this.titleOf(item) }));
  }
}
