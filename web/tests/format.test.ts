import { describe, expect, it } from "vitest";

import { predictedText, progressText } from "../src/compare/progress";
import { formatAgo, formatFromAverage, formatNumber, formatPercent, formatReward, formatWithUnit, pluralize } from "../src/format";
import { fractionOf } from "../src/player/trajectory-view";
import { ratingOfKey } from "../src/study/rate";
import { tabOf } from "../src/teach/tabs";

describe("formatting", () => {
  it("rounds numbers", () => {
    expect([formatNumber(1.23456), formatNumber(-0.5), formatNumber(-1e-12), formatWithUnit(0.737, "m/s"), formatWithUnit(2, "")]).toEqual([
      "1.23",
      "\u22120.5",
      "0",
      "0.737 m/s",
      "2",
    ]);
    expect([formatPercent(0.874), pluralize(1, "answer"), pluralize(2, "answer")]).toEqual(["87%", "1 answer", "2 answers"]);
  });

  it("writes a reward with its uncertainty", () => {
    expect([formatReward({ mean: -1.26, std: 0.31 }), formatReward({ mean: -0.01, std: 0 })]).toEqual(["\u22121.3 ± 0.3", "0.0 ± 0.0"]);
  });

  it("says on which side of the average a reward is", () => {
    expect([0.349, -1.26, 0.01, -0.04].map(formatFromAverage)).toEqual(["0.3 above average", "1.3 below average", "at the average", "at the average"]);
  });

  it("says how long ago something was", () => {
    const now = Date.parse("2026-11-15T14:00:00Z");
    expect(formatAgo(null, now)).toBe("never");
    expect(formatAgo("2026-11-15T13:59:55Z", now)).toBe("now");
    expect(formatAgo("2026-11-15T14:00:05Z", now)).toBe("now"); // clocks differ
    expect(formatAgo("2026-11-15T13:59:20Z", now)).toBe("40 seconds ago");
    expect(formatAgo("2026-11-15T13:58:50Z", now)).toBe("1 minute ago");
    expect(formatAgo("2026-11-15T11:00:00Z", now)).toBe("3 hours ago");
    expect(formatAgo("2026-11-13T11:00:00Z", now)).toBe("2 days ago");
  });

  it("says how many questions are answered", () => {
    expect(progressText(12, 30)).toBe("12 of 30");
    expect(progressText(32, 30)).toBe("32 answers (30 planned)");
  });

  it("says which fraction of the answers is predicted, once it is known", () => {
    expect(predictedText(null, null)).toBe("");
    expect(predictedText(null, 0.9)).toBe("goal 90%");
    expect(predictedText(0.824, 0.9)).toBe("predicts 82%, goal 90%");
    expect(predictedText(0.824, null)).toBe("predicts 82%");
  });

  it("finds where a value lies in its range", () => {
    const range = { name: "speed", unit: "m/s", levels: [], ordered: true, low: -1, high: 3 };
    expect([-2, -1, 1, 3, 9, undefined].map((value) => fractionOf(range, value))).toEqual([0, 0, 0.5, 1, 1, 0]);
  });

  it("reads digits that are on the scale as ratings", () => {
    const scale = { trajectory: 1, number: 1, total: 3, lowest: 1, highest: 7 };
    const key = (name: string): Parameters<typeof ratingOfKey>[0] => ({ key: name, ctrlKey: false, altKey: false, metaKey: false });
    expect(["1", "7", "8", "0", "F1", "a"].map((name) => ratingOfKey(key(name), scale))).toEqual([1, 7, null, null, null, null]);
    expect(ratingOfKey({ ...key("1"), ctrlKey: true }, scale)).toBeNull();
  });
});

describe("the URL", () => {
  it("names a tab", () => {
    expect(["", "?view=learned", "?view=finish", "?view=toString", "?x=1"].map(tabOf)).toEqual([
      "compare",
      "learned",
      "finish",
      "compare",
      "compare",
    ]);
  });
});
