/** Which of two is better, and by how much: with Shift, or a longer press, it is much better. */

import { type Option, withButtons } from "../buttons";
import { whichIs } from "../kind";

const NAMES: Record<string, string> = {
  "left-much": "A, much better",
  "left-slightly": "A, slightly better",
  equal: "about equal",
  "right-slightly": "B, slightly better",
  "right-much": "B, much better",
};
const KEYS = [
  { command: "left-slightly", keys: ["ArrowLeft", "f"], labels: ["←", "F"], description: "A is better" },
  { command: "right-slightly", keys: ["ArrowRight", "j"], labels: ["→", "J"], description: "B is better" },
  { command: "equal", keys: ["ArrowDown", "e"], labels: ["↓", "E"], description: "About equal" },
  { command: "left-much", keys: ["Shift+ArrowLeft", "Shift+f"], labels: ["⇧←", "⇧F"], description: "A is much better" },
  { command: "right-much", keys: ["Shift+ArrowRight", "Shift+j"], labels: ["⇧→", "⇧J"], description: "B is much better" },
] as const;
const OPTIONS: readonly Option[] = [
  { choice: "left-much", label: "A", rest: "is much better", held: 0 },
  { choice: "left-slightly", label: "A", rest: "is slightly better", clicked: 0 },
  { choice: "equal", label: "About equal", rest: "" },
  { choice: "right-slightly", label: "B", rest: "is slightly better", clicked: 1 },
  { choice: "right-much", label: "B", rest: "is much better", held: 1 },
];

export const kind = withButtons({
  heading: (subject) => `${whichIs(subject, "better")}, and by how much?`,
  choiceName: (choice) => NAMES[choice] ?? choice,
  touch: "Tap the one that you prefer; hold it for a moment if it is much better. There is also a button for each answer.",
  keys: () => KEYS,
  options: () => OPTIONS,
});
