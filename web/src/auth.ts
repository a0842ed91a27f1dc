/**
 * Signing in and out. A link carries its secret after the #, which browsers never send by themselves; the page exchanges
 * it for a cookie.
 */

import { signal } from "@preact/signals";

import type { Me } from "./api";
import { type PendingRequest, storedRequests } from "./pending";
import { RejectedError, Server, withRetries } from "./server";
import { unavailableMessage } from "./session";

export const SIGNED_OUT =
  "You are signed out. Open your link again, or paste it below. Nothing that you did is lost.";

export class Auth {
  readonly me = signal<Me | null>(null);
  readonly message = signal(""); // why nobody is signed in
  readonly unavailable = signal("");
  readonly failure = signal<{ message: string; retry: () => void } | null>(null);
  readonly busy = signal(false);
  readonly server: Server;
  private asked: string | null = null; // the session that the URL named when it was looked at last

  constructor(
    private readonly storage: Storage,
    fetcher?: typeof fetch,
  ) {
    this.server = new Server(() => void this.checkAgain(), fetcher);
  }

  /** Sign in with the secret in the URL if there is one, else find out whom the cookie belongs to. */
  async start(): Promise<void> {
    this.server.session = this.asked = sessionIn(location.search);
    const secret = secretFromHash(location.hash);
    if (!secret) return this.ask(() => this.server.get("/api/me"));
    await this.signIn(secret);
    clearHash(); // only now: a reload while the server is unavailable still needs it
  }

  /** Show the session that the URL names by now, if it is another one. */
  followAddress(): void {
    if (this.me.value?.manages && sessionIn(location.search) !== this.asked) void this.start();
  }

  signIn(secret: string): Promise<void> {
    return this.ask(() => this.server.post("/api/enter", { secret }));
  }

  signOut(): Promise<void> {
    return this.ask(() => this.server.post("/api/leave", {}));
  }

  /** After a 403: find out who is signed in now. */
  private async checkAgain(): Promise<void> {
    const found = await this.server.get("/api/me").catch(() => null);
    if (!found) return;
    if (found.role === null) this.message.value = SIGNED_OUT;
    this.setMe(found);
  }

  /** Requests from now on are about this person's session. */
  private setMe(me: Me): void {
    this.server.session = me.session;
    this.me.value = me;
  }

  private async ask(call: () => Promise<Me>): Promise<void> {
    this.busy.value = true;
    this.failure.value = null;
    this.message.value = "";
    try {
      const found = await withRetries(call, (error) => {
        this.unavailable.value = error ? unavailableMessage(error, this.pendingRequest()) : "";
      });
      this.setMe(found);
    } catch (error) {
      this.fail(error, call);
    } finally {
      this.busy.value = false;
    }
  }

  /** A request that an earlier visit could not send. */
  private pendingRequest(): PendingRequest | null {
    return storedRequests(this.storage)[0] ?? null;
  }

  private fail(error: unknown, call: () => Promise<Me>): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof RejectedError && error.status < 500) {
      this.message.value = message;
      this.setMe({ role: null, study: null, session: null, manages: false, version: "" });
    } else {
      this.failure.value = { message, retry: () => void this.ask(call) };
    }
  }
}

/** The session that a URL names; null: that with which the server was started. */
export function sessionIn(search: string): string | null {
  return new URLSearchParams(search).get("session");
}

/** The secret in the URL's fragment, "" if there is none. */
export function secretFromHash(hash: string): string {
  const text = hash.replace(/^#/, "");
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text.trim();
  }
}

/** The secret in what was pasted: a whole link, or the secret alone. */
export function secretFromPaste(text: string): string {
  const trimmed = text.trim();
  const hash = trimmed.indexOf("#");
  return hash < 0 ? trimmed : secretFromHash(trimmed.slice(hash));
}

/** Remove the secret from the URL, so that it is in no bookmark and no screenshot. */
function clearHash(): void {
  history.replaceState(history.state, "", location.pathname + location.search);
}
