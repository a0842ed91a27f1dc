/** The way in: a link carries its secret behind the #, where it is never sent or logged by itself. */

import type { Me } from "./contract";
import type { Server } from "./server";

const OWNER = "prefero.owner";

/** The secret of the address, "" if there is none. */
export function secretOfHash(hash: string): string {
  const text = hash.replace(/^#/, "");
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text.trim();
  }
}

/** The secret of what was pasted: a whole link, or the token alone. */
export function secretOfPaste(text: string): string {
  const trimmed = text.trim();
  const mark = trimmed.indexOf("#");
  return mark < 0 ? trimmed : secretOfHash(trimmed.slice(mark));
}

/** Whose answers are kept here: not the secret, only enough to tell one person's link from another's. */
export function ownerOf(secret: string): string {
  let mark = 0xcbf29ce484222325n; // FNV-1a, 64 bits
  for (const byte of new TextEncoder().encode(secret)) {
    mark = ((mark ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return mark.toString(16).padStart(16, "0");
}

/** Show the secret, and remember by whom this browser is used now. */
export async function enter(server: Server, storage: Storage, secret: string): Promise<Me> {
  const me = await server.post<Me>("/api/enter", { secret });
  storage.setItem(OWNER, ownerOf(secret));
  return me;
}

export function rememberedOwner(storage: Storage): string {
  return storage.getItem(OWNER) ?? "nobody";
}

/** Take the secret out of the address, so that it is not in a bookmark, a screenshot or over a shoulder. */
export function clearHash(): void {
  history.replaceState(history.state, "", location.pathname + location.search);
}
