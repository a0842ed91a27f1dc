import { describe, expect, it } from "vitest";

import { attach } from "../src/teach/attach";
import { accuracy, curve, effects } from "../src/teach/charts";

const feature = {
  name: "speed",
  unit: "m/s",
  effect: 0.8,
  curve: [
    { x: 0, mean: 0, low: -1, high: 1 },
    { x: 1, mean: 1, low: 0, high: 2 },
  ],
};

function attached(chart: Element): Element {
  const box = document.createElement("div");
  attach(box, chart);
  return box;
}

describe("charts", () => {
  it("have no <style>, which the content security policy forbids", () => {
    expect(effects([feature], 300).querySelector("style")).not.toBeNull();
    expect(attached(effects([feature], 300)).querySelector("style")).toBeNull();
  });

  it("label their axes, with units", () => {
    expect(attached(curve(feature, 300)).textContent).toMatch(/speed \(m\/s\)/);
    expect(attached(accuracy([{ answers: 0, accuracy: 0.5 }, { answers: 1, accuracy: 0.6 }], 300)).textContent).toMatch(/expected accuracy/);
  });
});
