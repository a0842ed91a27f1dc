/** Whether one item is acceptable. */

import { withButtons } from "../buttons";
import { thisOne } from "../kind";

const KEYS = {
  fail: { keys: ["ArrowLeft", "f", "1"], labels: ["←", "F", "1"] },
  pass: { keys: ["ArrowRight", "j", "2"], labels: ["→", "J", "2"] },
} as const;
const ORDER = ["fail", "pass"] as const; // as on the keyboard

export const kind = withButtons({
  heading: (subject) => `Is ${thisOne(subject)} acceptable?`,
  choiceName: (choice, words) => words[ORDER.findIndex((one) => one === choice)] ?? choice,
  touch: "Tap a button below it.",
  keys: ({ words }) => ORDER.map((command, i) => ({ command, ...KEYS[command], description: capitalized(words[i] ?? command) })),
  options: ({ words }) => ORDER.map((choice, i) => ({ choice, label: capitalized(words[i] ?? choice), rest: "" })),
});

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
