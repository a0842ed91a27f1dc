/** The browser's storage, or memory where the browser offers none. */

class Memory implements Storage {
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

/** Private windows and strict settings throw on access: then answers are at least kept while the page is open. */
export function openStorage(offered: () => Storage = () => localStorage): Storage {
  try {
    const storage = offered();
    storage.setItem("prefero.probe", "");
    storage.removeItem("prefero.probe");
    return storage;
  } catch {
    return new Memory();
  }
}
