/** Draws a scene at any time of the replay that was loaded last. */

import type { Replay } from "../api";

export interface Renderer {
  /** `together`: the replays that are shown, this one included, so that all can have one scale. */
  load(replay: Replay, together: Replay[]): void;
  resize(width: number, height: number, ratio: number): void;
  /** `still`: draw the whole path too, for people who want reduced motion. `playing`: a slow computer may draw less. */
  draw(time: number, still: boolean, playing: boolean): void;
  /** Is the first frame of the replay on the screen? */
  drawn(): boolean;
  dispose(): void;
}
