/** What the page says about a pair and an answer. */

import type { Choice, Sitting } from "../contract";

export type Deed = Choice | "undo";

const CHOSEN: Record<Deed, string> = {
  left: "You chose A.",
  right: "You chose B.",
  equal: "You found them about equal.",
  skip: "You skipped a pair.",
  undo: "Your last answer was taken back.",
};

export function chosenWords(deed: Deed | null): string {
  return deed === null ? "" : CHOSEN[deed];
}

export function pairWords(sitting: Pick<Sitting, "stage" | "done">): string {
  const pair = sitting.stage === "practice" ? "A pair for practice" : `Pair ${sitting.done + 1}`;
  return `${pair}. A is on the left or above, B is on the right or below. Which is better?`;
}
