/**
 * What was done and not yet acknowledged. A letter is kept in the browser's storage before it is sent and dropped
 * when the server has it; its key makes sending it twice harmless.
 */

import type { SessionState } from "./contract";
import { type UnavailableError, withRetries, RejectedError, type Server } from "./server";

export interface PendingRequest {
  key: string;
  at: number; // milliseconds; the order in which letters were written
  path: string;
  body: object;
}

/** Where letters are kept; every letter has an entry of its own, so that two windows never overwrite each other. */
export class PendingRequests {
  private readonly prefix: string;

  constructor(
    private readonly storage: Storage,
    owner: string,
  ) {
    this.prefix = `prefero.outbox.${owner}.`;
  }

  /** A full storage must not stop an answer: it is still sent, and tried again while the page is open. */
  add(request: PendingRequest): void {
    try {
      this.storage.setItem(this.prefix + request.key, JSON.stringify(request));
    } catch (full) {
      console.warn("this answer could not be kept in the browser", full);
    }
  }

  remove(key: string): void {
    this.storage.removeItem(this.prefix + key);
  }

  requests(): PendingRequest[] {
    const names = Array.from({ length: this.storage.length }, (_, i) => this.storage.key(i) ?? "");
    return names
      .filter((name) => name.startsWith(this.prefix))
      .flatMap((name) => parseRequest(this.storage.getItem(name)))
      .sort((a, b) => a.at - b.at);
  }
}

function parseRequest(text: string | null): PendingRequest[] {
  try {
    return [JSON.parse(text ?? "") as PendingRequest];
  } catch {
    return [];
  }
}

export class RequestQueue {
  private closed = false;

  /** `report` hears which letter waits and why, and null when it has gone. */
  constructor(
    private readonly server: Server,
    private readonly pending: PendingRequests,
    private readonly report: (error: UnavailableError | null, request: PendingRequest) => void,
  ) {}

  send(path: string, body: object): Promise<SessionState> {
    const request = { key: newKey(), at: Date.now(), path, body };
    this.pending.add(request);
    return this.post(request);
  }

  /** Send what an earlier visit left behind. That another window was quicker is no trouble. */
  async sendPending(): Promise<void> {
    for (const request of this.pending.requests()) {
      await this.post(request).catch((error: unknown) => {
        if (!(error instanceof RejectedError && error.status === 409)) throw error;
      });
    }
  }

  /** Stop trying: somebody else may sit here now. What waits stays in its owner's drawer. */
  close(): void {
    this.closed = true;
  }

  isEmpty(): boolean {
    return this.pending.requests().length === 0;
  }

  /** Give up what waits; only a person decides so. */
  discard(): void {
    for (const request of this.pending.requests()) this.pending.remove(request.key);
  }

  private async post(request: PendingRequest): Promise<SessionState> {
    const post = (): Promise<SessionState> => this.server.post(request.path, { key: request.key, ...request.body });
    try {
      const report = (error: UnavailableError | null): void => this.report(error, request);
      const state = await withRetries(post, report, () => this.closed);
      this.pending.remove(request.key);
      return state;
    } catch (error) {
      if (isFinal(error)) this.pending.remove(request.key);
      throw error;
    }
  }
}

/** Will the server never take this letter? After a 403 the right link, after a 500 a repair may still help. */
function isFinal(error: unknown): boolean {
  return error instanceof RejectedError && error.status < 500 && error.status !== 401 && error.status !== 403;
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
