/** Something that draws one scene again and again, at any time of the replay that it holds. */

import type { Replay } from "../contract";

export interface Painter {
  /** `among`: everything that is shown beside it, itself too, so that both sides can have one scale. */
  load(replay: Replay, among: Replay[]): void;
  resize(width: number, height: number, ratio: number): void;
  /** `trail`: show the whole way too, for people who asked for no motion. */
  paint(time: number, trail: boolean): void;
  dispose(): void;
}
