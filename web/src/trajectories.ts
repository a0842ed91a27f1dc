/** How the trajectories of this study are shown, and those that have been fetched. */

import type { ClipStatus, Display, FeatureRange, Prefetch, Replay, Scene, TrajectoryDetails } from "./api";
import { CLIP_FRAME, ClipCache, clipPath, type ClipSource } from "./player/clips";
import { aspectRatio } from "./player/viewport";
import { viewOptions } from "./player/view-options";
import { filledPath, type Server } from "./server";

/** One trajectory, ready to be shown. */
export type Trajectory =
  | { kind: "scene"; scene: Scene; replay: Replay }
  | { kind: "clips"; index: number; clips: () => ClipCache }
  | { kind: "features"; features: FeatureRange[]; values: Record<string, number> };

const FIRST_POLL = 100; // milliseconds
const GROWTH = 1.5; // of the wait, after every poll
const LAST_POLL = 10_000;
const NOTHING_AHEAD: Prefetch = { trajectories: [], complete: true }; // after a failure: prefetching only saves time
const SCENE_3D_ASPECT = 1.5;
const SIDE_BY_SIDE = "all side by side";
const NARROWEST = 0.8;
const WIDEST = 1.8;

export class Trajectories {
  private readonly cache: FetchCache<Trajectory>;
  private readonly known: FetchCache<TrajectoryDetails>;
  private readonly clipsOf = new Map<number, ClipCache>(); // by the place of a camera

  constructor(
    private readonly server: Server,
    readonly display: Display,
    private readonly clipSource?: ClipSource,
  ) {
    this.cache = new FetchCache((index) => this.fetch(index));
    this.known = new FetchCache((index) => server.get("/api/trajectories/{index}", { index }));
  }

  static async open(server: Server, clipSource?: ClipSource): Promise<Trajectories> {
    return new Trajectories(server, await server.get("/api/display"), clipSource);
  }

  /** The trajectory, if it is loaded. */
  peek(index: number): Trajectory | undefined {
    return this.cache.peek(index);
  }

  load(index: number): Promise<Trajectory> {
    return this.cache.get(index);
  }

  /** Its features, and its replay where it has one. */
  details(index: number): Promise<TrajectoryDetails> {
    return this.known.get(index);
  }

  /** The address of a small image, of those that are shown as videos. */
  thumbnail(index: number): string {
    return this.server.addressOf(filledPath("/api/pool/{index}/thumbnail.jpg", { index }));
  }

  prefetch(indices: number[]): void {
    this.cache.prefetch(indices);
    if (this.display.kind === "clips") this.clips().prefetch(indices);
  }

  /** Fetch the trajectories that may be asked about next. The server computes them meanwhile, so it is polled. */
  async prefetchNext(cancelled: () => boolean): Promise<void> {
    for (let wait = FIRST_POLL; wait < LAST_POLL; wait *= GROWTH) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (cancelled()) return;
      const { trajectories, complete } = await this.server.get("/api/session/prefetch").catch(() => NOTHING_AHEAD);
      this.prefetch(trajectories);
      if (complete) return;
    }
  }

  /** The names of the cameras that a person may choose from, the usual one first: of a dataset all side by side. */
  get cameras(): readonly string[] {
    const { display } = this;
    if (display.kind === "scene") return display.scene.dimensions === 3 ? (display.scene.cameras ?? []).map(({ name = "" }) => name) : [];
    const several = display.kind === "clips" && !this.clipSource ? (display.cameras ?? []) : []; // a kernel sends those of all only
    return several.length > 0 ? [SIDE_BY_SIDE, ...several] : [];
  }

  /** The videos of the camera that is chosen now. */
  clips(): ClipCache {
    const camera = Math.max(this.cameras.indexOf(viewOptions().camera.value), 0) - 1;
    const known = this.clipsOf.get(camera) ?? this.newClips(camera);
    this.clipsOf.set(camera, known);
    return known;
  }

  private newClips(camera: number): ClipCache {
    const { server } = this;
    const source = (path: (index: number) => string): ClipSource => (index) => server.addressOf(path(index));
    if (camera < 0) return new ClipCache((index) => server.get("/api/clips/{index}/status", { index }), this.clipSource ?? source(clipPath));
    const status = (index: number): Promise<ClipStatus> => server.get("/api/clips/{index}/cameras/{camera}/status", { index, camera });
    return new ClipCache(status, source((index) => filledPath("/api/clips/{index}/cameras/{camera}.mp4", { index, camera })));
  }

  /** Width by height of the boxes in which these are shown together; clips of other shapes are less tall. */
  aspectOf(indices: number[]): number {
    const { display } = this;
    if (display.kind !== "scene") return Math.min(...indices.map((index) => this.clips().aspectOf(index)));
    if (display.scene.dimensions === 3) return SCENE_3D_ASPECT;
    return Math.min(Math.max(aspectRatio(display.scene.view), NARROWEST), WIDEST);
  }

  private async fetch(index: number): Promise<Trajectory> {
    const { display } = this;
    if (display.kind === "clips") return { kind: "clips", index, clips: () => this.clips() };
    const { features, replay } = await this.details(index);
    if (display.kind === "features") return { kind: "features", features: display.features, values: features };
    if (replay === null) throw new Error(`trajectory ${index} has no replay`);
    return { kind: "scene", scene: display.scene, replay };
  }
}

/** Does it move, or is it shown as numbers? */
export function isPlayable(trajectory: Trajectory | undefined): boolean {
  return trajectory !== undefined && trajectory.kind !== "features";
}

/** The replays of those that have one. */
export function replaysOf(items: Trajectory[]): Replay[] {
  return items.flatMap((item) => (item.kind === "scene" ? item.replay : []));
}

export function frameSeconds(trajectory: Trajectory): number {
  return trajectory.kind === "scene" ? trajectory.replay.frame_time : CLIP_FRAME;
}

/** Values by index, each fetched once; the least recently used are evicted. */
export class FetchCache<T> {
  private readonly requests = new Map<number, Promise<T>>();
  private readonly loaded = new Map<number, T>();

  constructor(
    private readonly fetch: (index: number) => Promise<T>,
    private readonly limit = 64,
  ) {}

  /** The value, if it is here without waiting. */
  peek(index: number): T | undefined {
    return this.loaded.get(index);
  }

  get(index: number): Promise<T> {
    const request = this.requests.get(index) ?? this.request(index);
    this.requests.delete(index); // a Map keeps the order of insertion: the latest is last
    this.requests.set(index, request);
    this.evictOldest();
    return request;
  }

  /** Fetch early. A failure is reported when the value is needed. */
  prefetch(indices: Iterable<number>): void {
    for (const index of indices) this.get(index).catch(() => undefined);
  }

  private request(index: number): Promise<T> {
    const request = this.fetch(index);
    request.then(
      (value) => this.requests.get(index) === request && this.loaded.set(index, value),
      () => this.requests.get(index) === request && this.requests.delete(index),
    );
    return request;
  }

  private evictOldest(): void {
    for (const index of this.requests.keys()) {
      if (this.requests.size <= this.limit) return;
      this.requests.delete(index);
      this.loaded.delete(index);
    }
  }
}
