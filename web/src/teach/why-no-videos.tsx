/** Why trajectories are shown by their features alone, where there could be videos. */

import type { JSX } from "preact";

import type { Display } from "../api";

/** The teacher may be able to mend it; a participant of a study could not. */
export function WhyNoVideos({ display }: { display: Display }): JSX.Element | null {
  if (display.kind !== "features" || !display.no_video) return null;
  return <p class="soft why-no-videos">There are no videos: {display.no_video}.</p>;
}
