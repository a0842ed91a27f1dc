/** The signals of trajectories over time: whether a teacher wants to see them, and those that have been fetched. */

import { signal } from "@preact/signals";

import type { TrajectorySignals } from "./api";
import type { Server } from "./server";
import { FetchCache } from "./trajectories";

const REMEMBERED = "prefero.signals"; // in the browser, for the next questions and sessions
const SHOWN = "shown";

/** Only a teacher's page has this: a participant of a study sees clips alone. */
export class Signals {
  readonly shown = signal(false);
  readonly available = signal(false); // the trajectories have signals
  private readonly cache: FetchCache<TrajectorySignals>;

  constructor(
    server: Pick<Server, "get">,
    private readonly storage: Storage,
  ) {
    this.cache = new FetchCache((index) => server.get("/api/trajectories/{index}/signals", { index }));
    this.shown.value = storage.getItem(REMEMBERED) === SHOWN;
  }

  toggle(): void {
    this.shown.value = !this.shown.value;
    if (this.shown.value) this.storage.setItem(REMEMBERED, SHOWN);
    else this.storage.removeItem(REMEMBERED);
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
}
