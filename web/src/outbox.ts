/**
 * What was done and not yet acknowledged. A letter is kept in the browser's storage before it is sent and dropped
 * when the server has it; its key makes sending it twice harmless.
 */

import type { Sitting } from "./contract";
import { type Away, patiently, Refused, type Server } from "./server";

export interface Letter {
  key: string;
  at: number; // milliseconds; the order in which letters were written
  path: string;
  body: object;
}

/** Where letters are kept; every letter has an entry of its own, so that two windows never overwrite each other. */
export class Drawer {
  private readonly prefix: string;

  constructor(
    private readonly storage: Storage,
    owner: string,
  ) {
    this.prefix = `prefero.outbox.${owner}.`;
  }

  /** A full storage must not stop an answer: it is still sent, and tried again while the page is open. */
  keep(letter: Letter): void {
    try {
      this.storage.setItem(this.prefix + letter.key, JSON.stringify(letter));
    } catch (full) {
      console.warn("this answer could not be kept in the browser", full);
    }
  }

  drop(key: string): void {
    this.storage.removeItem(this.prefix + key);
  }

  letters(): Letter[] {
    const names = Array.from({ length: this.storage.length }, (_, i) => this.storage.key(i) ?? "");
    return names
      .filter((name) => name.startsWith(this.prefix))
      .flatMap((name) => letterIn(this.storage.getItem(name)))
      .sort((a, b) => a.at - b.at);
  }
}

function letterIn(text: string | null): Letter[] {
  try {
    return [JSON.parse(text ?? "") as Letter];
  } catch {
    return [];
  }
}

export class Outbox {
  private closed = false;

  /** `report` hears which letter waits and why, and null when it has gone. */
  constructor(
    private readonly server: Server,
    private readonly drawer: Drawer,
    private readonly report: (trouble: Away | null, letter: Letter) => void,
  ) {}

  send(path: string, body: object): Promise<Sitting> {
    const letter = { key: newKey(), at: Date.now(), path, body };
    this.drawer.keep(letter);
    return this.deliver(letter);
  }

  /** Send what an earlier visit left behind. That another window was quicker is no trouble. */
  async flush(): Promise<void> {
    for (const letter of this.drawer.letters()) {
      await this.deliver(letter).catch((trouble: unknown) => {
        if (!(trouble instanceof Refused && trouble.status === 409)) throw trouble;
      });
    }
  }

  /** Stop trying: somebody else may sit here now. What waits stays in its owner's drawer. */
  close(): void {
    this.closed = true;
  }

  empty(): boolean {
    return this.drawer.letters().length === 0;
  }

  /** Give up what waits; only a person decides so. */
  discard(): void {
    for (const letter of this.drawer.letters()) this.drawer.drop(letter.key);
  }

  private async deliver(letter: Letter): Promise<Sitting> {
    const post = (): Promise<Sitting> => this.server.post(letter.path, { key: letter.key, ...letter.body });
    try {
      const report = (trouble: Away | null): void => this.report(trouble, letter);
      const sitting = await patiently(post, report, () => this.closed);
      this.drawer.drop(letter.key);
      return sitting;
    } catch (trouble) {
      if (isFinal(trouble)) this.drawer.drop(letter.key);
      throw trouble;
    }
  }
}

/** Will the server never take this letter? After a 403 the right link, after a 500 a repair may still help. */
function isFinal(trouble: unknown): boolean {
  return trouble instanceof Refused && trouble.status < 500 && trouble.status !== 401 && trouble.status !== 403;
}

/** A random UUID; browsers offer `randomUUID` only to pages that came over HTTPS or from this machine. */
export function newKey(source: Pick<Crypto, "getRandomValues"> & Partial<Pick<Crypto, "randomUUID">> = crypto): string {
  if (source.randomUUID) return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version 4
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // the variant of RFC 9562
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
