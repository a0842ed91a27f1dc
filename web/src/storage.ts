/** The browser's local storage, or memory where there is none. */

export class MemoryStorage implements Storage {
  private readonly items = new Map<string, string>();

  get length(): number {
    return this.items.size;
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null;
  }

  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.items.set(name, value);
  }

  removeItem(name: string): void {
    this.items.delete(name);
  }

  clear(): void {
    this.items.clear();
  }
}

/** In private windows and with strict settings access throws: then requests are kept while the page is open. */
export function openStorage(browserStorage: () => Storage = () => localStorage): Storage {
  try {
    const storage = browserStorage();
    storage.setItem("prefero.probe", "");
    storage.removeItem("prefero.probe");
    return storage;
  } catch {
    return new MemoryStorage();
  }
}
