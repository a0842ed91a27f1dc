import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { TargetScores } from "../src/contract";
import { emptyDraft, completed, allowedScores, validationMessage, duplicateLabels } from "../src/study/target-scores";
import { TargetScoresForm } from "../src/study/target-scores-form";

const scores: TargetScores = { labels: ["red", "blue", "teal"], colors: ["#f00", "#00f", "#088"], lowest: 2, highest: 9 };

afterEach(cleanup);

describe("scores", () => {
  it("are whole numbers from the lowest to the highest", () => {
    expect(allowedScores(scores)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("are wanted for every label", () => {
    expect(validationMessage(scores, emptyDraft(scores))).toBe("Give every colour a number.");
    expect(validationMessage(scores, { red: 2, blue: null, teal: null })).toBe("Still without a number: blue and teal.");
  });

  it("are distinct, and the page says which are not", () => {
    const draft = { red: 4, blue: 4, teal: null };
    expect(validationMessage(scores, draft)).toBe("red and blue both have 4.");
    expect(duplicateLabels(draft)).toEqual(new Set(["red", "blue"]));
  });

  it("are fine once they are whole and distinct", () => {
    const draft = { red: 4, blue: 9, teal: 2 };
    expect(validationMessage(scores, draft)).toBe("");
    expect(completed(draft)).toEqual(draft);
  });
});

describe("the form", () => {
  const pick = (label: string, score: number): void => {
    const field = document.querySelector<HTMLInputElement>(`input[name="score-${label}"][value="${score}"]`);
    if (!field) throw new Error(`no ${label} ${score}`);
    fireEvent.click(field);
  };
  const goOn = (): HTMLButtonElement => screen.getByRole("button", { name: "Go on" });

  it("lets nobody on until every label has a number of its own", () => {
    const onDone = vi.fn();
    render(<TargetScoresForm scores={scores} blocked={false} onDone={onDone} />);
    pick("red", 5);
    pick("blue", 5);
    pick("teal", 2);
    expect(goOn().disabled).toBe(true);
    expect(screen.getByRole("status").textContent).toBe("red and blue both have 5.");
    pick("blue", 6);
    expect(goOn().disabled).toBe(false);
    fireEvent.click(goOn());
    fireEvent.submit(document.querySelector("form") ?? document.body);
    expect(onDone).toHaveBeenLastCalledWith({ red: 5, blue: 6, teal: 2 });
  });
});
