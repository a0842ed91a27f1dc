/** Who is there: a person comes in with a secret, is remembered by a cookie, and may leave or be sent away. */

import { signal } from "@preact/signals";

import type { Me } from "./contract";
import { unavailableMessage } from "./session";
import { PendingRequests, type PendingRequest } from "./pending";
import { withRetries, RejectedError, Server } from "./server";

export const SIGNED_OUT =
  "You are no longer signed in here. Open your link again, or paste it below: nothing that you did is lost.";

export class Auth {
  readonly me = signal<Me | null>(null);
  readonly message = signal(""); // why nobody is in
  readonly unavailable = signal("");
  readonly failure = signal<{ message: string; retry: () => void } | null>(null);
  readonly busy = signal(false);
  readonly server: Server;

  constructor(
    private readonly storage: Storage,
    fetcher?: typeof fetch,
  ) {
    this.server = new Server(() => void this.checkAgain(), fetcher);
  }

  /** With the secret of the address if it has one, else as whom the cookie says. */
  async start(): Promise<void> {
    const secret = secretFromHash(location.hash);
    if (!secret) return this.ask(() => this.server.get<Me>("/api/me"));
    await this.signIn(secret);
    clearHash(); // only now: a reload while the server is away must still have it
  }

  signIn(secret: string): Promise<void> {
    return this.ask(() => exchangeSecret(this.server, this.storage, secret));
  }

  signOut(): Promise<void> {
    return this.ask(() => this.server.post<Me>("/api/leave", {}));
  }

  /** A call was forbidden: see who we are now. */
  private async checkAgain(): Promise<void> {
    const found = await this.server.get<Me>("/api/me").catch(() => null);
    if (!found) return;
    if (found.role === null) this.message.value = SIGNED_OUT;
    this.me.value = found;
  }

  private async ask(call: () => Promise<Me>): Promise<void> {
    this.busy.value = true;
    this.failure.value = null;
    this.message.value = "";
    try {
      this.me.value = await withRetries(call, (unavailable) => {
        this.unavailable.value = unavailable ? unavailableMessage(unavailable, this.pendingRequest()) : "";
      });
    } catch (problem) {
      this.fail(problem, call);
    } finally {
      this.busy.value = false;
    }
  }

  /** What waits here from an earlier visit. */
  private pendingRequest(): PendingRequest | null {
    return new PendingRequests(this.storage, storedOwner(this.storage)).requests()[0] ?? null;
  }

  private fail(problem: unknown, call: () => Promise<Me>): void {
    const message = problem instanceof Error ? problem.message : String(problem);
    if (problem instanceof RejectedError && problem.status < 500) {
      this.message.value = message;
      this.me.value = { role: null, study: null, version: "" };
    } else {
      this.failure.value = { message, retry: () => void this.ask(call) };
    }
  }
}

const OWNER = "prefero.owner";

/** The secret of the address, "" if there is none. */
export function secretFromHash(hash: string): string {
  const text = hash.replace(/^#/, "");
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text.trim();
  }
}

/** The secret of what was pasted: a whole link, or the token alone. */
export function secretFromPaste(text: string): string {
  const trimmed = text.trim();
  const value = trimmed.indexOf("#");
  return value < 0 ? trimmed : secretFromHash(trimmed.slice(value));
}

/** Whose answers are kept here: not the secret, only enough to tell one person's link from another's. */
export function ownerId(secret: string): string {
  let value = 0xcbf29ce484222325n; // FNV-1a, 64 bits
  for (const byte of new TextEncoder().encode(secret)) {
    value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return value.toString(16).padStart(16, "0");
}

/** Show the secret, and remember by whom this browser is used now. */
export async function exchangeSecret(server: Server, storage: Storage, secret: string): Promise<Me> {
  const me = await server.post<Me>("/api/enter", { secret });
  storage.setItem(OWNER, ownerId(secret));
  return me;
}

export function storedOwner(storage: Storage): string {
  return storage.getItem(OWNER) ?? "nobody";
}

/** Take the secret out of the address, so that it is not in a bookmark, a screenshot or over a shoulder. */
export function clearHash(): void {
  history.replaceState(history.state, "", location.pathname + location.search);
}
