/** Signals over time and values of features: whether a teacher wants to see them, and those that have been fetched. */

import { signal } from "@preact/signals";

import type { TrajectorySignals } from "./api";
import type { Server } from "./server";
import { FetchCache } from "./trajectories";

// In the browser, for the next questions and sessions.
const SIGNALS = "prefero.signals";
const VALUES = "prefero.values";
const SHOWN = "shown";

/** Only a teacher's page has this: a participant of a study sees clips alone. */
export class Signals {
  readonly shown = signal(false);
  readonly values = signal(false); // the features are shown beside the clips
  readonly available = signal(false); // the trajectories have signals
  private readonly cache: FetchCache<TrajectorySignals>;

  constructor(
    server: Pick<Server, "get">,
    private readonly storage: Storage,
  ) {
    this.cache = new FetchCache((index) => server.get("/api/trajectories/{index}/signals", { index }));
    this.shown.value = storage.getItem(SIGNALS) === SHOWN;
    this.values.value = storage.getItem(VALUES) === SHOWN;
  }

  toggle(): void {
    this.remember(SIGNALS, (this.shown.value = !this.shown.value));
  }

  toggleValues(): void {
    this.remember(VALUES, (this.values.value = !this.values.value));
  }

  /** Look whether there are any, by one trajectory. If they cannot be read, there are none. */
  async probe(index: number): Promise<void> {
    if (this.available.value) return;
    const found = await this.load([index]).catch(() => []);
    if (found.some(({ signals }) => signals.length > 0)) this.available.value = true;
  }

  load(indices: number[]): Promise<TrajectorySignals[]> {
    return Promise.all(indices.map((index) => this.cache.get(index)));
  }

  peek(indices: number[]): TrajectorySignals[] | null {
    const found = indices.flatMap((index) => this.cache.peek(index) ?? []);
    return found.length === indices.length ? found : null;
  }

  private remember(name: string, shown: boolean): void {
    if (shown) this.storage.setItem(name, SHOWN);
    else this.storage.removeItem(name);
  }
}
