import { describe, expect, it } from "vitest";

import type { AnsweredPair, PastAnswer, PoolSample, QuestionMap } from "../src/api";
import { attach } from "../src/teach/attach";
import { accuracy, curve, effects, questions } from "../src/teach/charts";
import { Sampled } from "../src/teach/sampled";

const feature = {
  name: "speed",
  unit: "m/s",
  levels: [],
  effect: { mean: 0.8, low: 0.6, high: 0.95 },
  ends: null,
  curve: [
    { x: 0, mean: 0, low: -1, high: 1 },
    { x: 1, mean: 1, low: 0, high: 2 },
  ],
};
const points = [
  { answers: 5, accuracy: 0.5 },
  { answers: 6, accuracy: 0.6 },
];

function attached(chart: Element): Element {
  const box = document.createElement("div");
  attach(box, chart);
  return box;
}

function lengths(chart: Element): [number, number][] {
  const ends = (line: Element, name: string): number => Number(line.getAttribute(name));
  return [...chart.querySelectorAll("[aria-label=rule] line")].map((line) => [ends(line, "x1"), ends(line, "x2")]);
}

describe("charts", () => {
  it("have no <style>, which the content security policy forbids", () => {
    expect(effects([feature], 300).querySelector("style")).not.toBeNull();
    expect(attached(effects([feature], 300)).querySelector("style")).toBeNull();
  });

  it("label their axes, with units", () => {
    expect(attached(curve(feature, 300)).textContent).toMatch(/speed \(m\/s\)/);
    expect(attached(curve(feature, 300)).textContent).toMatch(/reward \(standard deviations\)/);
    expect(attached(accuracy(points, { mean: 0.6, low: 0.5, high: 0.7 }, 300)).textContent).toMatch(/expected accuracy/);
  });

  it("name the levels of a category, each with its reward and its uncertainty", () => {
    const surface = { ...feature, name: "surface", unit: "", levels: ["grass", "sand"] };
    const chart = attached(curve(surface, 300));
    expect(chart.textContent).toMatch(/grass.*sand|sand.*grass/);
    expect(chart.querySelectorAll("circle").length).toBe(2);
    expect(chart.querySelectorAll("[aria-label=area]").length).toBe(0);
  });

  it("shorten a label that is longer than the axis", () => {
    const long = { ...feature, name: "x".repeat(200) };
    const labels = [...attached(curve(long, 300)).querySelectorAll("text")].map((text) => text.textContent);
    expect(Math.max(...labels.map((label) => label.length))).toBeLessThan(50);
    expect(labels.join()).toMatch(/…/);
  });

  it("draw how uncertain an effect is, and leave out features without one", () => {
    const chart = effects([feature, { ...feature, name: "left out", effect: null }], 432);
    const [interval] = lengths(chart);
    expect(interval?.[0]).toBeCloseTo(14 + (400 * 0.6) / 0.95);
    expect(interval?.[1]).toBeCloseTo(414);
    expect(chart.textContent).not.toMatch(/left out/);
  });
});

describe("what is just acceptable", () => {
  const bar = { mean: 0.5, low: 0.4, high: 0.7 };
  const dashed = (chart: Element): Element[] => [...chart.querySelectorAll("[stroke-dasharray]")];

  it("is a dashed line in a curve, and only where an answer said what is", () => {
    const [line] = dashed(curve(feature, 300, bar));
    const height = Number(line?.querySelector("line")?.getAttribute("y1"));
    expect(height).toBeCloseTo(24 + (156 * (2 - bar.mean)) / 3); // the chart is from -1 to 2
    expect(dashed(curve(feature, 300))).toEqual([]);
  });
});

describe("the map of questions", () => {
  const pair = (question: number, choice: AnsweredPair["choice"]): AnsweredPair => ({
    question,
    number: question,
    items: [0, 1],
    choice,
    places: [
      [0, 0],
      [10, 10],
    ],
  });
  const map: QuestionMap = {
    axes: ["speed", "height"],
    pairs: [pair(1, "left"), pair(2, "right"), pair(3, "equal")],
    labels: [],
  };
  const sample: PoolSample = { items: [0, 1], ids: ["first", "second"], mean: [-1, 1.25], std: [0.5, 0.25], values: { speed: [0, 10], height: [0, 10] } };
  const sampled = new Sampled(sample, [{ name: "speed", unit: "m/s", levels: [] }]);
  const titles = (chart: Element, group: string): (string | null)[] =>
    [...chart.querySelectorAll(`.${group} > .playable`)].map((mark) => mark.getAttribute("aria-label"));
  const count = (chart: Element, what: string): number => chart.querySelectorAll(what).length;

  it("has a line for each question, dashed for a tie, and an arrow to what was preferred", () => {
    const chart = questions(map, { x: 0, y: 1 }, new Set([2]), {}, 300, sampled);
    expect(count(chart, "[aria-label=link][stroke-dasharray] path")).toBe(1);
    const arrows = [...chart.querySelectorAll("[aria-label=arrow] path")];
    expect(arrows.map((arrow) => arrow.getAttribute("stroke"))).toEqual(["var(--accent)", "var(--bad)"]);
    const [first, second] = arrows.map((arrow) => Number(/^M([\d.]+)/.exec(arrow.getAttribute("d") ?? "")?.[1]));
    expect(first).toBeGreaterThan(second ?? Infinity); // of the first question the left one is preferred, at 0
  });

  it("has a dot for each label, in the color of its level", () => {
    const labels = [0, 1].map((level) => ({ question: 4 + level, number: 4 + level, item: 0, level, place: [0, 0] }));
    const chart = questions({ ...map, pairs: [], labels }, { x: 0, y: 1 }, new Set([4]), {}, 300, sampled);
    const dots = [...chart.querySelectorAll(".labels circle")];
    expect(dots.map((dot) => dot.getAttribute("fill"))).toEqual([0, 100].map((share) => `color-mix(in oklab, var(--accent) ${share}%, var(--second))`));
    expect(dots.map((dot) => dot.getAttribute("stroke"))).toEqual(["var(--bad)", "var(--surface)"]);
  });

  it("has marks that play trajectories and questions, and say which", () => {
    const chart = questions(map, { x: 0, y: 1 }, new Set(), {}, 300, sampled);
    expect(titles(chart, "trajectories")).toEqual(["first, reward \u22121.0 ± 0.5, speed 0 m/s", "second, reward 1.3 ± 0.3, speed 10 m/s"]);
    expect(titles(chart, "arrows")).toEqual(["Question 1: first and second, you preferred first", "Question 2: first and second, you preferred second"]);
    expect(titles(chart, "links")).toEqual(["Question 3: first and second, about equal"]);
    expect(titles(chart, "compared").length).toBe(6);
  });

  it("is not the only chart whose marks play: curves and the accuracy have some too", () => {
    expect(titles(curve(feature, 300, undefined, sampled), "trajectories").length).toBe(2);
    const given = Array.from({ length: 6 }, (_, i) => ({ question: 100 + i, number: i + 1 }) as PastAnswer);
    const answers = titles(accuracy(points, { mean: 0.6, low: 0.5, high: 0.7 }, 300, given), "answers");
    expect(answers).toEqual(["Question 5; 50% expected after its answer", "Question 6; 60% expected after its answer"]);
  });

  it("shows a single feature by the number of the question", () => {
    const chart = questions({ ...map, axes: ["speed"] }, { x: 0, y: null }, new Set(), {}, 300, sampled);
    expect(chart.textContent).toMatch(/question/);
    expect(count(chart, "[aria-label=arrow] path, [aria-label=link] path")).toBe(3);
  });
});
