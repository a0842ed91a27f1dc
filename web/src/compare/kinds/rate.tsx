/** How good one item is, in levels. */

import { placeKey, withButtons } from "../buttons";
import { thisOne } from "../kind";

export const kind = withButtons({
  heading: (subject) => `How good is ${thisOne(subject)}?`,
  choiceName: (choice, words) => [choice, words[Number(choice) - 1]].filter(Boolean).join(", "),
  touch: "Tap a level below it: the lowest is on the left.",
  keys: ({ choices, words }) => choices.map((choice, i) => placeKey(i, choice, words[i] ?? `Level ${choice}`)),
  options: ({ choices, words }) => choices.map((choice, i) => ({ choice, label: choice, rest: words[i] ?? "" })),
  look: "answers-levels",
});
