/** What trajectories look like in this study, and everything of them that has been fetched. */

import type { Ahead, FeatureRange, FeatureValues, Replay, Scene, Display } from "./contract";
import { CLIP_FRAME, ClipCache } from "./player/clips";
import { aspectRatio } from "./player/viewport";
import type { Server } from "./server";

/** One trajectory, ready to be shown. */
export type Trajectory =
  | { kind: "scene"; scene: Scene; replay: Replay }
  | { kind: "clips"; index: number; clips: ClipCache }
  | { kind: "features"; features: FeatureRange[]; values: Record<string, number> };

const FIRST_LOOK = 250; // milliseconds
const LAST_LOOK = 10_000;
const NOTHING_AHEAD: Ahead = { ahead: [], ready: true }; // it is only about being early
const SOLID_ASPECT = 1.5;
const CLIP_ASPECT = 4 / 3;
const NARROWEST = 0.8;
const WIDEST = 1.8;

export class Trajectories {
  private readonly items: FetchCache<Trajectory>;
  private readonly clips = new ClipCache();

  constructor(
    private readonly server: Server,
    readonly display: Display,
  ) {
    this.items = new FetchCache((index) => this.fetch(index));
  }

  static async open(server: Server): Promise<Trajectories> {
    return new Trajectories(server, await server.get<Display>("/api/scene"));
  }

  /** The trajectory, if it can be shown at once. */
  ready(index: number): Trajectory | undefined {
    return this.items.ready(index);
  }

  load(index: number): Promise<Trajectory> {
    return this.items.get(index);
  }

  prefetch(indices: number[]): void {
    this.items.prefetch(indices);
    if (this.display.kind === "clips") this.clips.prefetch(indices);
  }

  /** Fetch what may come next. The server works it out while the person looks, so it is asked until it knows. */
  async prefetchNext(isOver: () => boolean): Promise<void> {
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
    const { display } = this;
    if (display.kind !== "scene") return CLIP_ASPECT;
    if (display.scene.dimensions === 3) return SOLID_ASPECT;
    return Math.min(Math.max(aspectRatio(display.scene.view), NARROWEST), WIDEST);
  }

  private async fetch(index: number): Promise<Trajectory> {
    const { display, clips, server } = this;
    if (display.kind === "clips") return { kind: "clips", index, clips };
    if (display.kind === "scene") {
      return { kind: "scene", scene: display.scene, replay: await server.get<Replay>(`/api/replays/${index}`) };
    }
    const { features } = await server.get<FeatureValues>(`/api/replays/${index}`);
    return { kind: "features", features: display.features, values: features };
  }
}

/** Can it be played, or only read? */
export function isPlayable(trajectory: Trajectory | undefined): boolean {
  return trajectory !== undefined && trajectory.kind !== "features";
}

export function frameSeconds(trajectory: Trajectory): number {
  return trajectory.kind === "scene" ? trajectory.replay.frame_time : CLIP_FRAME;
}

/** Values by index that were fetched, or are being fetched: each is requested once, and the least recently used are dropped. */
export class FetchCache<T> {
  private readonly requests = new Map<number, Promise<T>>();
  private readonly loaded = new Map<number, T>();

  constructor(
    private readonly fetch: (index: number) => Promise<T>,
    private readonly limit = 64,
  ) {}

  /** The replay, if it can be shown without waiting. */
  ready(index: number): T | undefined {
    return this.loaded.get(index);
  }

  get(index: number): Promise<T> {
    const requests = this.requests.get(index);
    if (requests) this.requests.delete(index); // and put back as the latest
    const replay = requests ?? this.begin(index);
    this.requests.set(index, replay);
    this.evictOldest();
    return replay;
  }

  /** Fetch early; a failure shows when the replay is really needed. */
  prefetch(indices: Iterable<number>): void {
    for (const index of indices) this.get(index).catch(() => undefined);
  }

  private begin(index: number): Promise<T> {
    const replay = this.fetch(index);
    replay.then(
      (value) => this.requests.get(index) === replay && this.loaded.set(index, value),
      () => this.requests.get(index) === replay && this.requests.delete(index),
    );
    return replay;
  }

  private evictOldest(): void {
    for (const index of this.requests.keys()) {
      if (this.requests.size <= this.limit) return;
      this.requests.delete(index);
      this.loaded.delete(index);
    }
  }
}
