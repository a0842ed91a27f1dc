/** Who is there: a person comes in with a secret, is remembered by a cookie, and may leave or be sent away. */

import { signal } from "@preact/signals";

import type { Me } from "./contract";
import { awayWords } from "./desk";
import { clearHash, enter, rememberedOwner, secretOfHash } from "./entry";
import { Drawer, type Letter } from "./outbox";
import { patiently, Refused, Server } from "./server";

export const LOST =
  "You are no longer signed in here. Open your link again, or paste it below: nothing that you did is lost.";

export class Door {
  readonly me = signal<Me | null>(null);
  readonly words = signal(""); // why nobody is in
  readonly away = signal("");
  readonly failure = signal<{ words: string; again: () => void } | null>(null);
  readonly busy = signal(false);
  readonly server: Server;

  constructor(
    private readonly storage: Storage,
    reach?: typeof fetch,
  ) {
    this.server = new Server(() => void this.lookAgain(), reach);
  }

  /** With the secret of the address if it has one, else as whom the cookie says. */
  async arrive(): Promise<void> {
    const secret = secretOfHash(location.hash);
    if (!secret) return this.ask(() => this.server.get<Me>("/api/me"));
    await this.comeIn(secret);
    clearHash(); // only now: a reload while the server is away must still have it
  }

  comeIn(secret: string): Promise<void> {
    return this.ask(() => enter(this.server, this.storage, secret));
  }

  leave(): Promise<void> {
    return this.ask(() => this.server.post<Me>("/api/leave", {}));
  }

  /** A call was forbidden: see who we are now. */
  private async lookAgain(): Promise<void> {
    const found = await this.server.get<Me>("/api/me").catch(() => null);
    if (!found) return;
    if (found.role === null) this.words.value = LOST;
    this.me.value = found;
  }

  private async ask(call: () => Promise<Me>): Promise<void> {
    this.busy.value = true;
    this.failure.value = null;
    this.words.value = "";
    try {
      this.me.value = await patiently(call, (away) => {
        this.away.value = away ? awayWords(away, this.kept()) : "";
      });
    } catch (trouble) {
      this.explain(trouble, call);
    } finally {
      this.busy.value = false;
    }
  }

  /** What waits here from an earlier visit. */
  private kept(): Letter | null {
    return new Drawer(this.storage, rememberedOwner(this.storage)).letters()[0] ?? null;
  }

  private explain(trouble: unknown, call: () => Promise<Me>): void {
    const words = trouble instanceof Error ? trouble.message : String(trouble);
    if (trouble instanceof Refused && trouble.status < 500) {
      this.words.value = words;
      this.me.value = { role: null, study: null, version: "" };
    } else {
      this.failure.value = { words, again: () => void this.ask(call) };
    }
  }
}
