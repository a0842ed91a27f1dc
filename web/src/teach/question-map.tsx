/** Where the questions were asked: the pool's trajectories by two of their features, and those that were judged. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { LearningSummary, QuestionMap } from "../api";
import { Card } from "../components";
import { Chart } from "./chart";
import type { Sampled } from "./sampled";

export function QuestionMapCard({ summary, sampled }: { summary: LearningSummary; sampled: Sampled }): JSX.Element {
  const { question_map: map, features, surprises } = summary;
  const [x, setX] = useState(0);
  const [y, setY] = useState(1);
  const known = Object.fromEntries(features.map((feature) => [feature.name, feature]));
  const surprising = new Set(surprises.map(({ question }) => question));
  return (
    <Card title="Where the questions were asked">
      <p class="soft">
        {map.pairs.length > 0 &&
          "Each arrow joins two trajectories and points to the one that you preferred; a dashed line is “about equal”. "}
        {map.labels.length > 0 && "A large dot is a trajectory that you judged alone: from orange, the lowest level, to blue, the highest. "}
        {surprising.size > 0 && "A surprising answer is red. "}
        The grey dots are the other trajectories. Click a dot to play its trajectory, and an arrow to play both.
      </p>
      {map.axes.length > 2 && (
        <div class="row">
          <Axis label="Across" axes={map.axes} chosen={x} other={y} onChange={setX} />
          <Axis label="Up" axes={map.axes} chosen={y} other={x} onChange={setY} />
        </div>
      )}
      <Chart
        plays
        name={describe(map, x, y)}
        draw={(charts, width) => charts.questions(map, { x, y: map.axes.length > 1 ? y : null }, surprising, known, width, sampled)}
      />
    </Card>
  );
}

function describe({ axes, pairs, labels }: QuestionMap, x: number, y: number): string {
  const by = axes.length > 1 ? `${axes[x]} and ${axes[y]}` : `${axes[x]}`;
  const questions = new Set([...pairs, ...labels].map(({ question }) => question));
  return `The trajectories of ${questions.size} questions by ${by}`;
}

interface AxisProps {
  label: string;
  axes: string[];
  chosen: number;
  other: number;
  onChange: (axis: number) => void;
}

function Axis({ label, axes, chosen, other, onChange }: AxisProps): JSX.Element {
  return (
    <label class="axis">
      {label}{" "}
      <select value={chosen} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {axes.map((name, i) => (
          <option key={name} value={i} disabled={i === other}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
