/** Which of two is better. */

import { noneKey, noneOption, type Option, withButtons } from "../buttons";
import { whichIs } from "../kind";

const NAMES: Record<string, string> = { left: "A", right: "B", equal: "about equal", none: "neither" };
const KEYS = [
  { command: "left", keys: ["ArrowLeft", "f"], labels: ["←", "F"], description: "A is better" },
  { command: "right", keys: ["ArrowRight", "j"], labels: ["→", "J"], description: "B is better" },
  { command: "equal", keys: ["ArrowDown", "e"], labels: ["↓", "E"], description: "About equal" },
] as const;
const OPTIONS: readonly Option[] = [
  { choice: "left", label: "A", rest: "is better", clicked: 0 },
  { choice: "equal", label: "About equal", rest: "" },
  { choice: "right", label: "B", rest: "is better", clicked: 1 },
];

export const kind = withButtons({
  heading: (subject) => `${whichIs(subject, "better")}?`,
  choiceName: (choice) => NAMES[choice] ?? choice,
  touch: "Tap a button below the two, or tap the one that you prefer.",
  keys: (asked) => [...KEYS, noneKey(asked)],
  options: (asked) => [...OPTIONS, noneOption(asked)],
});
