/** The charts. Colours are names of the page's own, so that one chart is right by day and by night. */

import * as Plot from "@observablehq/plot";

import type { CurvePoint, FeatureEffect, FeaturePair, LearningSummary } from "../contract";

const LINE = "var(--accent)";
const FAINT = "var(--line)";
const LOOK = { className: "plot", marginTop: 24, marginBottom: 40 };
const SCHEMES = { mean: "viridis", std: "cividis" } as const;

function named(name: string, unit: string | undefined): string {
  return unit ? `${name} (${unit})` : name;
}

export function accuracy(points: LearningSummary["accuracies"], width: number): Element {
  return Plot.plot({
    ...LOOK,
    width,
    height: 220,
    x: { label: "answers", ticks: Math.min(points.length - 1, width / 60), tickFormat: "d" },
    y: { label: "expected accuracy", domain: [0.5, 1], tickFormat: "%", grid: true },
    marks: [
      Plot.ruleY([0.5], { stroke: FAINT }),
      Plot.lineY(points, { x: "answers", y: "accuracy", stroke: LINE, strokeWidth: 2.5 }),
      Plot.dot(points, { x: "answers", y: "accuracy", fill: LINE, r: 3 }),
    ],
  });
}

export function effects(features: FeatureEffect[], width: number): Element {
  const longest = Math.max(...features.map(({ name }) => name.length));
  return Plot.plot({
    ...LOOK,
    width,
    height: 70 + 34 * features.length,
    marginLeft: Math.min(16 + 7.2 * longest, width / 2),
    x: { label: "share of the reward's spread", tickFormat: "%", grid: true },
    y: { label: null },
    marks: [
      Plot.barX(features, { x: "effect", y: "name", fill: LINE, sort: { y: "-x" }, insetTop: 2, insetBottom: 2, rx: 3 }),
      Plot.ruleX([0], { stroke: FAINT }),
    ],
  });
}

export function curve(feature: FeatureEffect, width: number): Element {
  const at = { x: "x" } satisfies Partial<Record<keyof CurvePoint, string>>;
  return Plot.plot({
    ...LOOK,
    width,
    height: 220,
    x: { label: named(feature.name, feature.unit) },
    y: { label: "reward", grid: true },
    marks: [
      Plot.areaY(feature.curve, { ...at, y1: "low", y2: "high", fill: LINE, fillOpacity: 0.18 }),
      Plot.lineY(feature.curve, { ...at, y: "mean", stroke: LINE, strokeWidth: 2.5 }),
    ],
  });
}

/** A map of the reward, or of how unsure it is, over two features. */
export function map(pair: FeaturePair, what: "mean" | "std", units: Record<string, string>, width: number): Element {
  const [x1, x2] = edges(pair.xs);
  const [y1, y2] = edges(pair.ys);
  const size = { width: pair.xs.length, height: pair.ys.length };
  return Plot.plot({
    ...LOOK,
    width,
    height: Math.min(width, 360),
    x: { label: named(pair.x, units[pair.x]) },
    y: { label: named(pair.y, units[pair.y]) },
    color: { scheme: SCHEMES[what], label: what === "mean" ? "reward" : "uncertainty (±)", legend: true },
    marks: [Plot.raster(pair[what].flat(), { ...size, x1, x2, y1, y2, imageRendering: "pixelated" })],
  });
}

/** Values are at the middles of their cells, so the picture is half a cell wider on each side. */
function edges(values: number[]): [number, number] {
  const first = values[0] ?? 0;
  const last = values.at(-1) ?? 1;
  const half = values.length > 1 ? (last - first) / (values.length - 1) / 2 : 0.5;
  return [first - half, last + half];
}
