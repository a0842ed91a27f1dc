import { beforeEach, describe, expect, it } from "vitest";

import { Door, LOST } from "../src/door";
import { ownerOf, rememberedOwner, secretOfHash, secretOfPaste } from "../src/entry";
import { refusal, scripted } from "./fakes";

const TEACHER = { role: "teacher", study: null, version: "0.1.0" };
const NOBODY = { role: null, study: null, version: "0.1.0" };

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
});

describe("a secret", () => {
  it("is behind the # of the address", () => {
    expect(secretOfHash("#abc-123")).toBe("abc-123");
    expect(secretOfHash("#a%20b")).toBe("a b");
    expect(secretOfHash("#100%")).toBe("100%");
    expect(secretOfHash("")).toBe("");
    expect(secretOfHash("#")).toBe("");
  });

  it("is found in a whole link or stands alone", () => {
    expect(secretOfPaste("  http://lab.example/#abc ")).toBe("abc");
    expect(secretOfPaste(" abc\n")).toBe("abc");
    expect(secretOfPaste("  ")).toBe("");
  });

  it("gives answers an owner without being kept itself", () => {
    expect(ownerOf("abc")).toMatch(/^[0-9a-f]{16}$/);
    expect(ownerOf("abc")).not.toBe(ownerOf("abd"));
    expect(ownerOf("")).toBe("cbf29ce484222325"); // FNV-1a of nothing
    expect(ownerOf("a")).toBe("af63dc4c8601ec8c"); // from the algorithm's own test vectors
  });
});

describe("the door", () => {
  it("posts the secret, takes it out of the address and remembers the owner", async () => {
    history.replaceState(null, "", "/?view=learned#abc");
    const { reach, calls } = scripted({ body: TEACHER });
    const door = new Door(localStorage, reach);
    await door.arrive();
    expect(calls).toEqual([{ method: "POST", path: "/api/enter", body: { secret: "abc" } }]);
    expect(door.me.value?.role).toBe("teacher");
    expect([location.hash, location.search]).toEqual(["", "?view=learned"]);
    expect(rememberedOwner(localStorage)).toBe(ownerOf("abc"));
    expect(JSON.stringify(localStorage)).not.toContain("abc");
  });

  it("asks who is there when there is no secret", async () => {
    const { reach, calls } = scripted({ body: NOBODY });
    const door = new Door(localStorage, reach);
    await door.arrive();
    expect(calls.map(({ path }) => path)).toEqual(["/api/me"]);
    expect(door.me.value?.role).toBeNull();
    expect(door.words.value).toBe("");
  });

  it("says why a secret does not open it", async () => {
    const { reach } = scripted(refusal(403, "unknown-secret", "This link is not known here."));
    const door = new Door(localStorage, reach);
    await door.comeIn("wrong");
    expect([door.me.value?.role, door.words.value]).toEqual([null, "This link is not known here."]);
    expect(rememberedOwner(localStorage)).toBe("nobody");
  });

  it("sends people back, with words, when they are signed out in the middle", async () => {
    const { reach } = scripted({ body: TEACHER }, refusal(403, "signed-out"), { body: NOBODY });
    const door = new Door(localStorage, reach);
    await door.comeIn("abc");
    await door.server.get("/api/sitting").catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve));
    expect([door.me.value?.role, door.words.value]).toEqual([null, LOST]);
  });

  it("offers to try again after a failure", async () => {
    const { reach } = scripted(refusal(500, "oops", "It broke."), { body: TEACHER });
    const door = new Door(localStorage, reach);
    await door.arrive();
    expect(door.failure.value?.words).toBe("It broke.");
    door.failure.value?.again();
    await new Promise((resolve) => setTimeout(resolve));
    expect([door.me.value?.role, door.failure.value]).toEqual(["teacher", null]);
  });

  it("lets people out", async () => {
    const { reach, calls } = scripted({ body: TEACHER }, { body: NOBODY });
    const door = new Door(localStorage, reach);
    await door.comeIn("abc");
    await door.leave();
    expect(calls.at(-1)).toEqual({ method: "POST", path: "/api/leave", body: {} });
    expect(door.me.value?.role).toBeNull();
  });
});
