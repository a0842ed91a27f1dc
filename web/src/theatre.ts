/** What trajectories look like in this study, and everything of them that has been fetched. */

import type { Ahead, FeatureRange, FeatureValues, Replay, Scene, Showing } from "./contract";
import { CLIP_FRAME, Clips } from "./playing/clips";
import { aspectOf } from "./playing/window";
import { Replays } from "./replays";
import type { Server } from "./server";

/** One trajectory, ready to be shown. */
export type Act =
  | { kind: "scene"; scene: Scene; replay: Replay }
  | { kind: "clips"; index: number; clips: Clips }
  | { kind: "features"; features: FeatureRange[]; values: Record<string, number> };

const FIRST_LOOK = 250; // milliseconds
const LAST_LOOK = 10_000;
const NOTHING_AHEAD: Ahead = { ahead: [], ready: true }; // it is only about being early
const SOLID_ASPECT = 1.5;
const CLIP_ASPECT = 4 / 3;
const NARROWEST = 0.8;
const WIDEST = 1.8;

export class Theatre {
  private readonly acts: Replays<Act>;
  private readonly clips = new Clips();

  constructor(
    private readonly server: Server,
    readonly showing: Showing,
  ) {
    this.acts = new Replays((index) => this.fetch(index));
  }

  static async open(server: Server): Promise<Theatre> {
    return new Theatre(server, await server.get<Showing>("/api/scene"));
  }

  /** The trajectory, if it can be shown at once. */
  ready(index: number): Act | undefined {
    return this.acts.ready(index);
  }

  load(index: number): Promise<Act> {
    return this.acts.get(index);
  }

  prefetch(indices: number[]): void {
    this.acts.prefetch(indices);
    if (this.showing.kind === "clips") this.clips.prefetch(indices);
  }

  /** Fetch what may come next. The server works it out while the person looks, so it is asked until it knows. */
  async prepare(isOver: () => boolean): Promise<void> {
    for (let wait = FIRST_LOOK; wait < LAST_LOOK; wait *= 2) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (isOver()) return;
      const { ahead, ready } = await this.server.get<Ahead>("/api/ahead").catch(() => NOTHING_AHEAD);
      this.prefetch(ahead);
      if (ready) return;
    }
  }

  /** How much wider than high a screen is. */
  get aspect(): number {
    const { showing } = this;
    if (showing.kind !== "scene") return CLIP_ASPECT;
    if (showing.scene.dimensions === 3) return SOLID_ASPECT;
    return Math.min(Math.max(aspectOf(showing.scene.view), NARROWEST), WIDEST);
  }

  private async fetch(index: number): Promise<Act> {
    const { showing, clips, server } = this;
    if (showing.kind === "clips") return { kind: "clips", index, clips };
    if (showing.kind === "scene") {
      return { kind: "scene", scene: showing.scene, replay: await server.get<Replay>(`/api/replays/${index}`) };
    }
    const { features } = await server.get<FeatureValues>(`/api/replays/${index}`);
    return { kind: "features", features: showing.features, values: features };
  }
}

/** Can it be played, or only read? */
export function plays(act: Act | undefined): boolean {
  return act !== undefined && act.kind !== "features";
}

export function frameOf(act: Act): number {
  return act.kind === "scene" ? act.replay.frame : CLIP_FRAME;
}
