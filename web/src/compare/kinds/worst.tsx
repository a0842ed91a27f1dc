/** Which of several is the worst. */

import { oneItem } from "../buttons";
import { whichIs } from "../kind";

export const kind = oneItem("the worst", {
  heading: (subject) => `${whichIs(subject, "the worst")}?`,
  touch: "Tap the worst one, or its button.",
});
