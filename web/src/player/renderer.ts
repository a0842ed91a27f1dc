/** Something that draws one scene again and again, at any time of the replay that it holds. */

import type { Replay } from "../contract";

export interface Renderer {
  /** `among`: everything that is shown beside it, itself too, so that both sides can have one scale. */
  load(replay: Replay, group: Replay[]): void;
  resize(width: number, height: number, ratio: number): void;
  /** `trail`: show the whole way too, for people who asked for no motion. */
  draw(time: number, trail: boolean): void;
  dispose(): void;
}
