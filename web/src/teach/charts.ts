/** The charts. Colors are the page's variables, so that a chart fits light and dark mode. */

import * as Plot from "@observablehq/plot";

import type { AnsweredLabel, AnsweredPair, CurvePoint, Estimate, FeatureEffect, FeatureMap, LearningSummary, PastAnswer, QuestionMap } from "../api";
import { choiceName } from "../compare/registry";
import { formatPercent } from "../format";
import { makePlayable, type Playable, withReach } from "./playable";
import type { Sampled } from "./sampled";

const LINE = "var(--accent)";
const INK = "var(--ink)";
const GRID = "var(--line)";
const STYLE = { className: "plot", marginTop: 24, marginBottom: 40, marginLeft: 56 };
const LEGEND = { marginLeft: 20, marginRight: 20, width: 280 };
const SCHEMES = { mean: "viridis", std: "cividis" } as const;
const BAR = { stroke: "var(--ink)", strokeWidth: 2, strokeDasharray: "6 4" };
const RUG = { r: 2.5, fill: "var(--edge)", fillOpacity: 0.55 };
const SAMPLED = "trajectories"; // the groups of marks that play something
const ON_MAP = { r: 2, fill: "white", fillOpacity: 0.6, stroke: "black", strokeOpacity: 0.5, strokeWidth: 0.75 };
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

/** The interval is that of the last point; each point plays the question whose answer came then. */
export function accuracy(points: LearningSummary["learning_curve"], now: Estimate, width: number, given: readonly PastAnswer[] = []): Element {
  const last = points.slice(-1).map(({ answers }) => ({ answers, ...now }));
  const chart = Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: { label: "answers", ticks: Math.min(points.length - 1, width / 60), tickFormat: "d", insetRight: 8 },
    y: { label: "expected accuracy", domain: [Math.min(0.5, now.low), 1], tickFormat: "%", grid: true },
    marks: [
      Plot.ruleY([0.5], { stroke: GRID }),
      Plot.ruleX(last, { x: "answers", y1: "low", y2: "high", stroke: INK, strokeWidth: 1.5, marker: "tick" }),
      Plot.lineY(points, { x: "answers", y: "accuracy", stroke: LINE, strokeWidth: 2.5 }),
      Plot.dot(points, { x: "answers", y: "accuracy", fill: LINE, r: 3, className: "answers" }),
    ],
  });
  const answered = points.map((point) => given[point.answers - 1]);
  if (answered.every((answer) => answer !== undefined)) {
    makePlayable(chart, "answers", points.map((point, i) => afterAnswer(point, answered[i])));
  }
  return withReach(chart, "x");
}

function afterAnswer({ answers, accuracy: expected }: LearningSummary["learning_curve"][number], answer: PastAnswer | undefined): Playable {
  const { question = 0, number = answers } = answer ?? {};
  return { play: { question }, title: `Question ${number}; ${formatPercent(expected)} expected after its answer` };
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

/** The dashed line is the bar, what is just acceptable, if an answer said what is; the dots below are trajectories. */
export function curve(feature: FeatureEffect, width: number, bar?: Estimate, sampled?: Sampled): Element {
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
  const rug = sampled ? [Plot.dotX(sampled.values(feature.name), { ...RUG, x: (value: number) => value, frameAnchor: "bottom", dy: -4, className: SAMPLED })] : [];
  const chart = Plot.plot({
    ...STYLE,
    width,
    height: 220,
    x: featureAxis(feature.name, feature, values, width),
    y: { label: REWARD, grid: true },
    marks: [zero, ...(feature.levels.length > 0 ? points : line), ...(bar ? [Plot.ruleY([bar.mean], BAR)] : []), ...rug],
  });
  if (sampled) makePlayable(chart, SAMPLED, sampled.playables());
  return withReach(chart, "x");
}

/** A map of the reward, or of its standard deviation, over two features; the bar is where the reward is just acceptable. */
export function map(pair: FeatureMap, what: "mean" | "std", axes: Axes, width: number, bar?: Estimate, sampled?: Sampled): Element {
  const [x1, x2] = edges(pair.xs);
  const [y1, y2] = edges(pair.ys);
  const grid = { width: pair.xs.length, height: pair.ys.length, x1, x2, y1, y2 };
  const contour = { ...grid, ...BAR, stroke: "white", fill: "none" };
  const dots = sampled ? [Plot.dot(zipped(sampled.values(pair.x), sampled.values(pair.y)), { x: "x", y: "y", ...ON_MAP, className: SAMPLED })] : [];
  const chart = Plot.plot({
    ...STYLE,
    width,
    height: Math.min(width, 360),
    x: featureAxis(pair.x, axes[pair.x], pair.xs, width),
    y: featureAxis(pair.y, axes[pair.y], pair.ys, width),
    color: { scheme: SCHEMES[what], label: what === "mean" ? REWARD : "uncertainty (standard deviations)", legend: true, ...LEGEND },
    marks: [
      Plot.raster(pair[what].flat(), { ...grid, imageRendering: "pixelated" }),
      ...(bar ? [Plot.contour(pair.mean.flat(), { ...contour, thresholds: [bar.mean] })] : []),
      ...dots,
    ],
  });
  if (sampled) makePlayable(chart, SAMPLED, sampled.playables());
  return withReach(chart, "any");
}

function zipped(xs: number[], ys: number[]): { x: number; y: number }[] {
  return xs.map((x, i) => ({ x, y: ys[i] ?? 0 }));
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
  { axes, pairs, labels }: QuestionMap,
  shown: { x: number; y: number | null },
  surprising: Set<number>,
  known: Axes,
  width: number,
  sampled: Sampled,
): Element {
  const [across, up] = [axes[shown.x] ?? "", shown.y === null ? null : (axes[shown.y] ?? "")];
  const [xs, ys] = [sampled.values(across), up === null ? [] : sampled.values(up)];
  const marked = pairs.map((pair) => ({ pair, ...segment(pair, shown, surprising.has(pair.question)) }));
  const [arrows, links] = [marked.filter(({ tied }) => !tied), marked.filter(({ tied }) => tied)];
  const ends = { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: "color", strokeWidth: 1.5 };
  const height = (place: number[], number: number): number => (shown.y === null ? number : (place[shown.y] ?? 0));
  const asked = pairs.flatMap(({ items, places, number }) => places.map((place, i) => ({ item: items[i] ?? 0, x: place[shown.x] ?? 0, y: height(place, number) })));
  const rated = labels.map((label) => ratedDot(label, label.place[shown.x] ?? 0, height(label.place, label.number), surprising));
  const chart = Plot.plot({
    ...STYLE,
    width,
    height: Math.min(width, 460),
    inset: 6,
    x: { ...featureAxis(across, known[across], xs, width), nice: true },
    y: up === null ? { label: "question", tickFormat: "d" } : { ...featureAxis(up, known[up], ys, width), nice: true },
    marks: [
      Plot.dot(up === null ? [] : zipped(xs, ys), { x: "x", y: "y", ...RUG, className: SAMPLED }),
      Plot.arrow(arrows, { ...ends, headLength: 7, insetEnd: 3, className: "arrows" }),
      Plot.link(links, { ...ends, strokeDasharray: "4 4", className: "links" }),
      Plot.dot(asked, { x: "x", y: "y", r: 3, fill: LINE, className: "compared" }),
      Plot.dot(rated, { x: "x", y: "y", r: 5.5, fill: "color", stroke: "edge", strokeWidth: 1.5, className: "labels" }),
    ],
  });
  if (up !== null) makePlayable(chart, SAMPLED, sampled.playables());
  const names = (items: number[]): string => items.map((item) => sampled.nameOf(item)).join(" and ");
  for (const [label, lines] of [["arrows", arrows], ["links", links]] as const) {
    makePlayable(chart, label, lines.map(({ pair }) => ({ play: { question: pair.question }, title: `Question ${pair.number}: ${names(pair.items)}, ${preferred(pair, sampled)}` })));
  }
  makePlayable(chart, "compared", asked.map(({ item }) => ({ play: { trajectory: item }, title: sampled.titleOf(item) })));
  makePlayable(chart, "labels", labels.map((label) => ({ play: { question: label.question }, title: `Question ${label.number}: ${sampled.titleOf(label.item)}` })));
  return withReach(chart, "near");
}

function preferred({ items, choice }: AnsweredPair, sampled: Sampled): string {
  if (choice === "equal") return choiceName(choice, "pair", []);
  return `you preferred ${sampled.nameOf(items[choice === "left" ? 0 : 1] ?? 0)}`;
}

function ratedDot({ level, question }: AnsweredLabel, x: number, y: number, surprising: Set<number>): { x: number; y: number; color: string; edge: string } {
  const color = `color-mix(in oklab, ${LINE} ${Math.round(100 * level)}%, var(--second))`;
  return { x, y, color, edge: surprising.has(question) ? "var(--bad)" : "var(--surface)" };
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
