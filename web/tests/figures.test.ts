import { describe, expect, it } from "vitest";

import { progressWords } from "../src/asking/progress";
import { agoWords, asPercent, countOf, figure, withUnit } from "../src/figures";
import { shareOf } from "../src/playing/screen";
import { markOfKey } from "../src/study/rate";
import { viewOf } from "../src/teach/views";

describe("figures", () => {
  it("are short", () => {
    expect([figure(1.23456), figure(-0.5), figure(-1e-12), withUnit(0.737, "m/s"), withUnit(2, "")]).toEqual([
      "1.23",
      "-0.5",
      "0",
      "0.737 m/s",
      "2",
    ]);
    expect([asPercent(0.874), countOf(1, "answer"), countOf(2, "answer")]).toEqual(["87%", "1 answer", "2 answers"]);
  });

  it("tell how long ago something was", () => {
    const now = Date.parse("2026-11-15T14:00:00Z");
    expect(agoWords(null, now)).toBe("not yet");
    expect(agoWords("2026-11-15T13:59:55Z", now)).toBe("now");
    expect(agoWords("2026-11-15T14:00:05Z", now)).toBe("now"); // clocks differ
    expect(agoWords("2026-11-15T13:59:20Z", now)).toBe("40 seconds ago");
    expect(agoWords("2026-11-15T13:58:50Z", now)).toBe("1 minute ago");
    expect(agoWords("2026-11-15T11:00:00Z", now)).toBe("3 hours ago");
    expect(agoWords("2026-11-13T11:00:00Z", now)).toBe("2 days ago");
  });

  it("tell how far a person has come", () => {
    expect(progressWords(12, 30)).toBe("12 of 30");
    expect(progressWords(1, null)).toBe("1 answer");
    expect(progressWords(32, 30)).toBe("32 answers, 30 asked for");
  });

  it("lie on their range", () => {
    const range = { name: "speed", unit: "m/s", low: -1, high: 3 };
    expect([-2, -1, 1, 3, 9, undefined].map((value) => shareOf(range, value))).toEqual([0, 0, 0.5, 1, 1, 0]);
  });

  it("are marks when their keys are on the scale", () => {
    const scale = { trajectory: 1, number: 1, of: 3, lowest: 1, highest: 7 };
    const key = (name: string): Parameters<typeof markOfKey>[0] => ({ key: name, ctrlKey: false, altKey: false, metaKey: false });
    expect(["1", "7", "8", "0", "F1", "a"].map((name) => markOfKey(key(name), scale))).toEqual([1, 7, null, null, null, null]);
    expect(markOfKey({ ...key("1"), ctrlKey: true }, scale)).toBeNull();
  });
});

describe("the address", () => {
  it("names a view", () => {
    expect(["", "?view=learned", "?view=finish", "?view=toString", "?x=1"].map(viewOf)).toEqual([
      "compare",
      "learned",
      "finish",
      "compare",
      "compare",
    ]);
  });
});
