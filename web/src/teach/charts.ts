/** The charts. Colors are the page's variables, so that a chart fits light and dark mode. */

import * as Plot from "@observablehq/plot";

import type { CurvePoint, FeatureEffect, FeatureMap, LearningSummary } from "../api";

const LINE = "var(--accent)";
const GRID = "var(--line)";
const STYLE = { className: "plot", marginTop: 24, marginBottom: 40 };
const SCHEMES = { mean: "viridis", std: "cividis" } as const;

function withUnitLabel(name: string, unit: string | undefined): string {
  return unit ? `${name} (${unit})` : name;
}

export function accuracy(points: LearningSummary["learning_curve"], width: number): Element {
  return Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: { label: "answers", ticks: Math.min(points.length - 1, width / 60), tickFormat: "d" },
    y: { label: "expected accuracy", domain: [0.5, 1], tickFormat: "%", grid: true },
    marks: [
      Plot.ruleY([0.5], { stroke: GRID }),
      Plot.lineY(points, { x: "answers", y: "accuracy", stroke: LINE, strokeWidth: 2.5 }),
      Plot.dot(points, { x: "answers", y: "accuracy", fill: LINE, r: 3 }),
    ],
  });
}

export function effects(features: FeatureEffect[], width: number): Element {
  const longest = Math.max(...features.map(({ name }) => name.length));
  return Plot.plot({
    ...STYLE,
    width,
    height: 70 + 34 * features.length,
    marginLeft: Math.min(16 + 7.2 * longest, width / 2),
    x: { label: "share of the reward's variation", tickFormat: "%", grid: true },
    y: { label: null },
    marks: [
      Plot.barX(features, { x: "effect", y: "name", fill: LINE, sort: { y: "-x" }, insetTop: 2, insetBottom: 2, rx: 3 }),
      Plot.ruleX([0], { stroke: GRID }),
    ],
  });
}

export function curve(feature: FeatureEffect, width: number): Element {
  const at = { x: "x" } satisfies Partial<Record<keyof CurvePoint, string>>;
  return Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: { label: withUnitLabel(feature.name, feature.unit) },
    y: { label: "reward", grid: true },
    marks: [
      Plot.areaY(feature.curve, { ...at, y1: "low", y2: "high", fill: LINE, fillOpacity: 0.18 }),
      Plot.lineY(feature.curve, { ...at, y: "mean", stroke: LINE, strokeWidth: 2.5 }),
    ],
  });
}

/** A map of the reward, or of its standard deviation, over two features. */
export function map(pair: FeatureMap, what: "mean" | "std", units: Record<string, string>, width: number): Element {
  const [x1, x2] = edges(pair.xs);
  const [y1, y2] = edges(pair.ys);
  const size = { width: pair.xs.length, height: pair.ys.length };
  return Plot.plot({
    ...STYLE,
    width,
    height: Math.min(width, 360),
    x: { label: withUnitLabel(pair.x, units[pair.x]) },
    y: { label: withUnitLabel(pair.y, units[pair.y]) },
    color: { scheme: SCHEMES[what], label: what === "mean" ? "reward" : "standard deviation", legend: true },
    marks: [Plot.raster(pair[what].flat(), { ...size, x1, x2, y1, y2, imageRendering: "pixelated" })],
  });
}

/** Values are at the centers of their cells, so the image extends half a cell beyond them. */
function edges(values: number[]): [number, number] {
  const first = values[0] ?? 0;
  const last = values.at(-1) ?? 1;
  const half = values.length > 1 ? (last - first) / (values.length - 1) / 2 : 0.5;
  return [first - half, last + half];
}
