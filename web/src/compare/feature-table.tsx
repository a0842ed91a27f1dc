/**
 * The features of a question's items: those that differ most, and the others folded.
 *
 *     fraction     where a value lies between the lowest and the highest value of its feature in the pool, from 0 to 1
 *     deviations   from the smallest to the largest value of the items, in standard deviations over the pool if they are known
 *     difference   that, or from the smallest to the largest fraction
 */

import type { JSX } from "preact";

import type { FeatureRange } from "../api";
import { formatDeviations, formatFeature, formatNumber, formatWithUnit, pluralize } from "../format";
import { fractionOf } from "../player/trajectory-view";
import type { Trajectory } from "../trajectories";
import { itemLabel } from "./layout";

export type FeatureTrajectory = Extract<Trajectory, { kind: "features" }>;

const MOST_SHOWN = 6;
const ALL_SHOWN = 8; // so many are not folded: a fold of one or two saves no place

interface FeatureRow {
  feature: FeatureRange;
  values: (number | undefined)[];
  fractions: number[];
  deviations: number | null;
  difference: number;
}

type Deviations = Readonly<Record<string, number>>; // by the names of features

/** The features with the largest difference first; of one item, as they come. */
export function rankedRows(items: FeatureTrajectory[], deviations: Deviations = {}): FeatureRow[] {
  const features = items[0]?.features ?? [];
  return features.map((feature) => featureRow(feature, items, deviations)).sort((a, b) => b.difference - a.difference);
}

function featureRow(feature: FeatureRange, items: FeatureTrajectory[], known: Deviations): FeatureRow {
  const values = items.map((item) => item.values[feature.name]);
  const fractions = values.map((value) => fractionOf(feature, value));
  const apart = Math.max(...fractions) - Math.min(...fractions);
  const one = known[feature.name] ?? 0;
  const deviations = one > 0 ? (apart * (feature.high - feature.low)) / one : null;
  return { feature, values, fractions, deviations, difference: deviations ?? (feature.ordered ? apart : Math.sign(apart)) };
}

/** Which of two items has more, and how much more; "" for more items, whose marks show it. */
function differenceText({ feature, values, deviations }: Pick<FeatureRow, "feature" | "values" | "deviations">): string {
  const [a, b] = values;
  if (values.length !== 2 || a === undefined || b === undefined) return "";
  if (formatNumber(a) === formatNumber(b)) return "equal";
  if (feature.levels.length > 0) return "different";
  const more = `${itemLabel(a > b ? 0 : 1)} has ${formatWithUnit(Math.abs(a - b), feature.unit)} more`;
  return deviations === null ? more : `${more}, ${formatDeviations(deviations)}`;
}

interface TableProps {
  items: FeatureTrajectory[];
  deviations?: Deviations;
}

export function FeatureTable({ items, deviations = {} }: TableProps): JSX.Element {
  const rows = rankedRows(items, deviations);
  const shown = rows.length <= ALL_SHOWN ? rows : rows.slice(0, MOST_SHOWN);
  const folded = rows.slice(shown.length);
  return (
    <div class="feature-table">
      <Rows rows={shown} />
      {folded.length > 0 && (
        <details class="folded">
          <summary>
            {pluralize(folded.length, "other feature")}
            {items.length > 1 && " that differ less"}
          </summary>
          <Rows rows={folded} />
        </details>
      )}
    </div>
  );
}

function Rows({ rows }: { rows: FeatureRow[] }): JSX.Element {
  return (
    <dl class="feature-rows">
      {rows.map((row) => (
        <div class="feature-row" key={row.feature.name}>
          <dt>{row.feature.name}</dt>
          <dd class="feature-values">
            {row.values.map((value, i) => (
              <span key={i} class={`value value-${i}`}>
                {row.values.length > 1 && <strong>{itemLabel(i)} </strong>}
                {formatFeature(row.feature, value)}
              </span>
            ))}
          </dd>
          <dd class="feature-track" aria-hidden="true">
            {row.feature.ordered && <Track fractions={row.fractions} />}
          </dd>
          <dd class="feature-difference">{differenceText(row)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A mark for every item, and a bar from the lowest to the highest. */
function Track({ fractions }: { fractions: number[] }): JSX.Element {
  const low = Math.min(...fractions);
  const length = Math.max(...fractions) - low;
  return (
    <div class="track" style={{ "--marks": fractions.length }}>
      <div class="track-bar" style={{ left: `${100 * low}%`, width: `${100 * length}%` }} />
      {fractions.map((fraction, i) => (
        <span key={i} class={`mark mark-${i}`} style={{ left: `${100 * fraction}%`, "--place": i }}>
          {fractions.length > 1 && itemLabel(i)}
        </span>
      ))}
    </div>
  );
}
