/** Which of several is the best. */

import { oneItem } from "../buttons";
import { whichIs } from "../kind";

export const kind = oneItem("the best", {
  heading: (subject) => `${whichIs(subject, "the best")}?`,
  touch: "Tap the best one, or its button.",
});
