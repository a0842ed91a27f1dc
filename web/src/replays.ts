/** Replays that were fetched, or are on their way: each is asked for once, and early. */

export class Replays<T> {
  private readonly known = new Map<number, Promise<T>>();
  private readonly here = new Map<number, T>();

  constructor(
    private readonly fetch: (index: number) => Promise<T>,
    private readonly limit = 64,
  ) {}

  /** The replay, if it can be shown without waiting. */
  ready(index: number): T | undefined {
    return this.here.get(index);
  }

  get(index: number): Promise<T> {
    const known = this.known.get(index);
    if (known) this.known.delete(index); // and put back as the latest
    const replay = known ?? this.begin(index);
    this.known.set(index, replay);
    this.forgetOldest();
    return replay;
  }

  /** Fetch early; a failure shows when the replay is really needed. */
  prefetch(indices: Iterable<number>): void {
    for (const index of indices) this.get(index).catch(() => undefined);
  }

  private begin(index: number): Promise<T> {
    const replay = this.fetch(index);
    replay.then(
      (value) => this.known.get(index) === replay && this.here.set(index, value),
      () => this.known.get(index) === replay && this.known.delete(index),
    );
    return replay;
  }

  private forgetOldest(): void {
    for (const index of this.known.keys()) {
      if (this.known.size <= this.limit) return;
      this.known.delete(index);
      this.here.delete(index);
    }
  }
}
