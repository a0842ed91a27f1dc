/** The charts. Colors are the page's variables, so that a chart fits light and dark mode. */

import * as Plot from "@observablehq/plot";

import type { AnsweredPair, CurvePoint, Estimate, FeatureEffect, FeatureMap, LearningSummary, QuestionMap } from "../api";

const LINE = "var(--accent)";
const INK = "var(--ink)";
const GRID = "var(--line)";
const STYLE = { className: "plot", marginTop: 24, marginBottom: 40, marginLeft: 56 };
const LEGEND = { marginLeft: 20, marginRight: 20, width: 280 };
const SCHEMES = { mean: "viridis", std: "cividis" } as const;
const BAR = { stroke: "var(--ink)", strokeWidth: 2, strokeDasharray: "6 4" };
const REWARD = "reward (standard deviations)";
const LETTER = 6.5; // pixels, on average
const LARGE = 1000; // numbers from here on are shortened: 12k
const SMALL = 0.01; // an axis whose numbers are all below this has exponents

function withUnitLabel(name: string, unit: string | undefined): string {
  return unit ? `${name} (${unit})` : name;
}

/** What an axis needs to know of a feature; a category has levels, and its values are their places. */
export type Axis = Pick<FeatureEffect, "unit" | "levels">;
export type Axes = Record<string, Axis | undefined>;

/** An axis of a feature; a label that is too long for the chart is cut with an ellipsis. */
function featureAxis(name: string, axis: Axis | undefined, values: number[], width: number): Plot.ScaleOptions {
  const label = withUnitLabel(name, axis?.unit);
  const most = Math.floor((width - STYLE.marginLeft) / LETTER) - 3;
  const levels = axis?.levels ?? [];
  if (levels.length > 0) return { label: cut(label, most), ...levelAxis(levels, most) };
  const largest = Math.max(...values.map(Math.abs));
  const format = largest >= LARGE ? "~s" : largest < SMALL ? "~e" : null;
  return {
    label: cut(label, most),
    ...(format !== null && { tickFormat: format }),
  };
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The levels of a category, one beside the other. */
function levelAxis(levels: string[], most: number): Plot.ScaleOptions {
  const each = Math.max(Math.floor(most / levels.length), 2);
  return {
    domain: [-0.5, levels.length - 0.5],
    ticks: levels.map((_, place) => place),
    tickFormat: (place: number) => cut(levels[place] ?? "", each),
  };
}

/** The interval is that of the last point. */
export function accuracy(points: LearningSummary["learning_curve"], now: Estimate, width: number): Element {
  const last = points.slice(-1).map(({ answers }) => ({ answers, ...now }));
  return Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: { label: "answers", ticks: Math.min(points.length - 1, width / 60), tickFormat: "d", insetRight: 8 },
    y: { label: "expected accuracy", domain: [Math.min(0.5, now.low), 1], tickFormat: "%", grid: true },
    marks: [
      Plot.ruleY([0.5], { stroke: GRID }),
      Plot.ruleX(last, { x: "answers", y1: "low", y2: "high", stroke: INK, strokeWidth: 1.5, marker: "tick" }),
      Plot.lineY(points, { x: "answers", y: "accuracy", stroke: LINE, strokeWidth: 2.5 }),
      Plot.dot(points, { x: "answers", y: "accuracy", fill: LINE, r: 3 }),
    ],
  });
}

/** The name of a feature is above its bar, so that it has the whole width. */
export function effects(features: FeatureEffect[], width: number): Element {
  const rows = features.flatMap(({ name, effect }) => (effect ? [{ name, ...effect }] : []));
  const inner = { insetTop: 20, insetBottom: 4 };
  return Plot.plot({
    ...STYLE,
    width,
    height: 60 + 44 * rows.length,
    marginLeft: 14,
    marginRight: 18,
    x: { label: "fraction of the reward's variation", tickFormat: "%", grid: true, domain: [0, Math.max(...rows.map(({ high }) => high))] },
    y: { label: null, axis: null, domain: rows.map(({ name }) => name), padding: 0.05 },
    marks: [
      Plot.barX(rows, { x: "mean", y: "name", fill: LINE, fillOpacity: 0.55, rx: 3, ...inner }),
      Plot.ruleY(rows, { x1: "low", x2: "high", y: "name", stroke: INK, strokeWidth: 1.5, dy: 8, marker: "tick" }),
      Plot.text(rows, {
        x: 0,
        y: "name",
        text: "name",
        textAnchor: "start",
        lineAnchor: "bottom",
        dy: -3,
        lineWidth: width / 12,
        textOverflow: "ellipsis",
      }),
      Plot.ruleX([0], { stroke: GRID }),
    ],
  });
}

/** The dashed line is the bar, what is just acceptable, if an answer said what is. */
export function curve(feature: FeatureEffect, width: number, bar?: Estimate): Element {
  const at = { x: "x" } satisfies Partial<Record<keyof CurvePoint, string>>;
  const values = feature.curve.map(({ x }) => x);
  const zero = Plot.ruleY([0], { stroke: GRID, strokeWidth: 2 });
  const line = [
    Plot.areaY(feature.curve, { ...at, y1: "low", y2: "high", fill: LINE, fillOpacity: 0.18 }),
    Plot.lineY(feature.curve, { ...at, y: "mean", stroke: LINE, strokeWidth: 2.5 }),
  ];
  const points = [
    Plot.ruleX(feature.curve, { ...at, y1: "low", y2: "high", stroke: INK, strokeWidth: 1.5, marker: "tick" }),
    Plot.dot(feature.curve, { ...at, y: "mean", fill: LINE, r: 5 }),
  ];
  return Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: featureAxis(feature.name, feature, values, width),
    y: { label: REWARD, grid: true },
    marks: [zero, ...(feature.levels.length > 0 ? points : line), ...(bar ? [Plot.ruleY([bar.mean], BAR)] : [])],
  });
}

/** A map of the reward, or of its standard deviation, over two features; the bar is where the reward is just acceptable. */
export function map(pair: FeatureMap, what: "mean" | "std", axes: Axes, width: number, bar?: Estimate): Element {
  const [x1, x2] = edges(pair.xs);
  const [y1, y2] = edges(pair.ys);
  const grid = { width: pair.xs.length, height: pair.ys.length, x1, x2, y1, y2 };
  const contour = { ...grid, ...BAR, stroke: "white", fill: "none" };
  return Plot.plot({
    ...STYLE,
    width,
    height: Math.min(width, 360),
    x: featureAxis(pair.x, axes[pair.x], pair.xs, width),
    y: featureAxis(pair.y, axes[pair.y], pair.ys, width),
    color: { scheme: SCHEMES[what], label: what === "mean" ? REWARD : "uncertainty (standard deviations)", legend: true, ...LEGEND },
    marks: [
      Plot.raster(pair[what].flat(), { ...grid, imageRendering: "pixelated" }),
      ...(bar ? [Plot.contour(pair.mean.flat(), { ...contour, thresholds: [bar.mean] })] : []),
    ],
  });
}

interface Segment {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  tied: boolean;
  color: string;
}

/** Questions as arrows to the preferred trajectory, and labels as dots; with one feature, one above the other. */
export function questions(
  { axes, pool, pairs, labels }: QuestionMap,
  shown: { x: number; y: number | null },
  surprising: Set<number>,
  known: Axes,
  width: number,
): Element {
  const [across, up] = [axes[shown.x] ?? "", shown.y === null ? null : (axes[shown.y] ?? "")];
  const segments = pairs.map((pair) => segment(pair, shown, surprising.has(pair.question)));
  const dots = shown.y === null ? [] : pool.map((row) => ({ x: row[shown.x] ?? 0, y: row[shown.y ?? 0] ?? 0 }));
  const ends = { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: "color", strokeWidth: 1.5 };
  const asked = pairs.flatMap(({ places, number }) => places.map((place) => ({ x: place[shown.x], y: up === null ? number : place[shown.y ?? 0] })));
  const rated = labels.map(({ place, number, level, question }) => ({
    x: place[shown.x],
    y: up === null ? number : place[shown.y ?? 0],
    color: `color-mix(in oklab, ${LINE} ${Math.round(100 * level)}%, var(--second))`,
    edge: surprising.has(question) ? "var(--bad)" : "var(--surface)",
  }));
  const column = (place: number): number[] => pool.map((row) => row[place] ?? 0);
  return Plot.plot({
    ...STYLE,
    width,
    height: Math.min(width, 460),
    inset: 6,
    x: { ...featureAxis(across, known[across], column(shown.x), width), nice: true },
    y: up === null ? { label: "question", tickFormat: "d" } : { ...featureAxis(up, known[up], column(shown.y ?? 0), width), nice: true },
    marks: [
      Plot.dot(dots, { x: "x", y: "y", r: 2.5, fill: "var(--edge)", fillOpacity: 0.55 }),
      Plot.dot(asked, { x: "x", y: "y", r: 3, fill: LINE }),
      Plot.arrow(segments.filter(({ tied }) => !tied), { ...ends, headLength: 7, insetEnd: 3 }),
      Plot.link(segments.filter(({ tied }) => tied), { ...ends, strokeDasharray: "4 4" }),
      Plot.dot(rated, { x: "x", y: "y", r: 5.5, fill: "color", stroke: "edge", strokeWidth: 1.5 }),
    ],
  });
}

/** Of a tie both ends are alike. */
function segment({ choice, places, number }: AnsweredPair, shown: { x: number; y: number | null }, surprising: boolean): Segment {
  const [left = [], right = []] = places;
  const [winner, loser] = choice === "right" ? [right, left] : [left, right];
  const height = (place: number[]): number => (shown.y === null ? number : (place[shown.y] ?? 0));
  return {
    x1: loser[shown.x] ?? 0,
    y1: height(loser),
    x2: winner[shown.x] ?? 0,
    y2: height(winner),
    tied: choice === "equal",
    color: surprising ? "var(--bad)" : LINE,
  };
}

/** Values are at the centers of their cells, so the image extends half a cell beyond them. */
function edges(values: number[]): [number, number] {
  const first = values[0] ?? 0;
  const last = values.at(-1) ?? 1;
  const half = values.length > 1 ? (last - first) / (values.length - 1) / 2 : 0.5;
  return [first - half, last + half];
}
