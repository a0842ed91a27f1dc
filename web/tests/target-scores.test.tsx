import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { TargetScores } from "../src/api";
import { allowedScores, completed, duplicateLabels, emptyDraft, validationMessage } from "../src/study/target-scores";
import { TargetScoresForm } from "../src/study/target-scores-form";

const scores: TargetScores = { labels: ["red", "blue", "teal"], colors: ["#f00", "#00f", "#088"], lowest: 2, highest: 9 };

afterEach(cleanup);

describe("scores", () => {
  it("are whole numbers from the lowest to the highest", () => {
    expect(allowedScores(scores)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("are required for every label", () => {
    expect(validationMessage(scores, emptyDraft(scores))).toBe("Give every target a number.");
    expect(validationMessage(scores, { red: 2, blue: null, teal: null })).toBe("Still without a number: blue and teal.");
  });

  it("must be different, and the page says which are not", () => {
    const draft = { red: 4, blue: 4, teal: null };
    expect(validationMessage(scores, draft)).toBe("red and blue both have 4.");
    expect(duplicateLabels(draft)).toEqual(new Set(["red", "blue"]));
  });

  it("are valid once they are complete and different", () => {
    const draft = { red: 4, blue: 9, teal: 2 };
    expect(validationMessage(scores, draft)).toBe("");
    expect(completed(draft)).toEqual(draft);
  });
});

describe("the form", () => {
  const select = (label: string, score: number): void => {
    const field = document.querySelector<HTMLInputElement>(`input[name="score-${label}"][value="${score}"]`);
    if (!field) throw new Error(`no ${label} ${score}`);
    fireEvent.click(field);
  };
  const submit = (): HTMLButtonElement => screen.getByRole("button", { name: "Continue" });

  it("can be submitted once every label has a different number", () => {
    const onDone = vi.fn();
    render(<TargetScoresForm scores={scores} blocked={false} onDone={onDone} />);
    select("red", 5);
    select("blue", 5);
    select("teal", 2);
    expect(submit().disabled).toBe(true);
    expect(screen.getByRole("status").textContent).toBe("red and blue both have 5.");
    select("blue", 6);
    expect(submit().disabled).toBe(false);
    fireEvent.click(submit());
    fireEvent.submit(document.querySelector("form") ?? document.body);
    expect(onDone).toHaveBeenLastCalledWith({ red: 5, blue: 6, teal: 2 });
  });
});
