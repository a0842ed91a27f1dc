import { cleanup, render } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";

import type { KnownBefore } from "../src/api";
import { Known } from "../src/teach/known";

const source = (changes: Partial<KnownBefore>): KnownBefore => ({
  source: "demonstration",
  says: "5 demonstrations",
  support: 0.88,
  agreeing: 0,
  compared: 0,
  trusted: true,
  ...changes,
});
const sentences = (...known: KnownBefore[]): (string | null)[] => {
  const { container } = render(<Known known={known} />);
  return Array.from(container.querySelectorAll("li"), (item) => item.textContent);
};

afterEach(cleanup);

describe("what was known before", () => {
  it("says how much of each source is right, and what is not trusted", () => {
    const score = { source: "score", says: "Higher success is better (90%)", support: 0.5, agreeing: 5, compared: 7, trusted: false };
    expect(sentences(source({}), source(score))).toEqual([
      "5 demonstrations: 88% right.",
      "Higher success is better (90%): 50% right. It agrees with your answers in 71%. Not trusted.",
    ]);
  });

  it("never says that a source is surely right or wrong", () => {
    expect(sentences(source({ support: 0.999 }), source({ says: "1 correction", support: 0.001 }))).toEqual([
      "5 demonstrations: over 99% right.",
      "1 correction: under 1% right.",
    ]);
  });

  it("says when there are too few answers", () => {
    expect(sentences(source({ support: null }))).toEqual(["5 demonstrations: too few answers yet to check this."]);
  });
});
