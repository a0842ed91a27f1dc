/**
 * Requests that the server has not acknowledged yet. A request is stored in the browser before it is sent, and removed
 * after the response; its idempotency key makes sending it twice harmless.
 */

import type { RequestBody, SessionPath, SessionState } from "./api";
import { ANOTHER_SESSION, RejectedError, type Server, type UnavailableError, withRetries } from "./server";

const PREFIX = "prefero.pending.";

export interface PendingRequest {
  key: string;
  at: number; // milliseconds since 1970; requests are sent in this order
  path: SessionPath;
  body: object; // without the key
}

/** The stored requests of one person. Each has its own entry, so that two windows cannot overwrite each other's. */
export class PendingRequests {
  private readonly prefix: string;

  /** `session` is the name that the server gives a person's session; it is another one in every database. */
  constructor(
    private readonly storage: Storage,
    readonly session: string,
  ) {
    this.prefix = `${PREFIX}${session}.`;
  }

  /** A full storage must not block an answer: it is still sent, and retried while the page is open. */
  add(request: PendingRequest): void {
    try {
      this.storage.setItem(this.prefix + request.key, JSON.stringify(request));
    } catch (full) {
      console.warn("this answer could not be stored in the browser", full);
    }
  }

  remove(key: string): void {
    this.storage.removeItem(this.prefix + key);
  }

  /** In the order in which they were made. */
  all(): PendingRequest[] {
    return storedRequests(this.storage, this.prefix);
  }
}

/** The stored requests of all sessions, or of those whose names begin so, in the order in which they were made. */
export function storedRequests(storage: Storage, prefix = PREFIX): PendingRequest[] {
  const names = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? "");
  return names
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => parseRequest(storage.getItem(name)))
    .sort((a, b) => a.at - b.at);
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

  /** `report` gets each request that has to wait, with the reason, and null when it was sent. */
  constructor(
    private readonly server: Server,
    private readonly pending: PendingRequests,
    private readonly report: (error: UnavailableError | null, request: PendingRequest) => void,
  ) {}

  send<P extends SessionPath>(path: P, body: Omit<RequestBody<P>, "key">): Promise<SessionState> {
    const request = { key: newKey(), at: Date.now(), path, body };
    this.pending.add(request);
    return this.post(request);
  }

  /** Send what an earlier visit could not. A conflict is fine: another window has sent it already. */
  async sendPending(): Promise<void> {
    for (const request of this.pending.all()) {
      await this.post(request).catch((error: unknown) => {
        if (!(error instanceof RejectedError && error.status === 409 && error.code !== ANOTHER_SESSION)) throw error;
      });
    }
  }

  /** Stop retrying: another person may use this browser now. The requests stay stored for their owner. */
  close(): void {
    this.closed = true;
  }

  isEmpty(): boolean {
    return this.pending.all().length === 0;
  }

  /** Drop the pending requests. Only the person may decide this. */
  discard(): void {
    for (const request of this.pending.all()) this.pending.remove(request.key);
  }

  private async post(request: PendingRequest): Promise<SessionState> {
    const body = { key: request.key, ...request.body } as RequestBody<SessionPath>; // as it was stored
    const post = (): Promise<SessionState> => this.server.post(request.path, body, this.pending.session);
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

/**
 * Will the server never accept this request? After a 403 or in another session the right link, after a 500 a repaired
 * server may still help.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof RejectedError) || error.code === ANOTHER_SESSION) return false;
  return error.status < 500 && error.status !== 401 && error.status !== 403;
}

/** A random UUID. Browsers have `randomUUID` only on pages served over HTTPS or from localhost. */
export function newKey(source: Pick<Crypto, "getRandomValues"> & Partial<Pick<Crypto, "randomUUID">> = crypto): string {
  if (source.randomUUID) return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version 4
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // the variant of RFC 9562
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
