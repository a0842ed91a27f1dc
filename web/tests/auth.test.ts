import { beforeEach, describe, expect, it } from "vitest";

import { Auth, SIGNED_OUT } from "../src/auth";
import { secretFromHash, secretFromPaste } from "../src/auth";
import { fakeFetch, rejection } from "./fakes";

const TEACHER = { role: "teacher", study: null, session: "a session", version: "0.1.0" };
const NOBODY = { role: null, study: null, session: null, version: "0.1.0" };

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
});

describe("a secret", () => {
  it("is the fragment of the URL", () => {
    expect(secretFromHash("#abc-123")).toBe("abc-123");
    expect(secretFromHash("#a%20b")).toBe("a b");
    expect(secretFromHash("#100%")).toBe("100%");
    expect(secretFromHash("")).toBe("");
    expect(secretFromHash("#")).toBe("");
  });

  it("can be pasted as a whole link or alone", () => {
    expect(secretFromPaste("  http://lab.example/#abc ")).toBe("abc");
    expect(secretFromPaste(" abc\n")).toBe("abc");
    expect(secretFromPaste("  ")).toBe("");
  });
});

describe("signing in", () => {
  it("posts the secret, removes it from the URL and names the session from then on", async () => {
    history.replaceState(null, "", "/?view=learned#abc");
    const { fetcher, calls } = fakeFetch({ body: TEACHER });
    const auth = new Auth(localStorage, fetcher);
    await auth.start();
    expect(calls).toEqual([{ method: "POST", path: "/api/enter", body: { secret: "abc" }, session: null }]);
    expect(auth.me.value?.role).toBe("teacher");
    expect([location.hash, location.search]).toEqual(["", "?view=learned"]);
    expect(auth.server.session).toBe("a session");
    expect(JSON.stringify(localStorage)).not.toContain("abc");
  });

  it("asks whom the cookie belongs to when there is no secret", async () => {
    const { fetcher, calls } = fakeFetch({ body: NOBODY });
    const auth = new Auth(localStorage, fetcher);
    await auth.start();
    expect(calls.map(({ path }) => path)).toEqual(["/api/me"]);
    expect(auth.me.value?.role).toBeNull();
    expect(auth.message.value).toBe("");
  });

  it("shows why a secret was rejected", async () => {
    const { fetcher } = fakeFetch(rejection(403, "unknown-secret", "This link is not known here."));
    const auth = new Auth(localStorage, fetcher);
    await auth.signIn("wrong");
    expect([auth.me.value?.role, auth.message.value]).toEqual([null, "This link is not known here."]);
    expect(auth.server.session).toBeNull();
  });

  it("returns to the sign-in page, with a message, after a 403", async () => {
    const { fetcher } = fakeFetch({ body: TEACHER }, rejection(403, "signed-out"), { body: NOBODY });
    const auth = new Auth(localStorage, fetcher);
    await auth.signIn("abc");
    await auth.server.get("/api/session").catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve));
    expect([auth.me.value?.role, auth.message.value]).toEqual([null, SIGNED_OUT]);
  });

  it("offers to try again after an error of the server", async () => {
    const { fetcher } = fakeFetch(rejection(500, "oops", "It broke."), { body: TEACHER });
    const auth = new Auth(localStorage, fetcher);
    await auth.start();
    expect(auth.failure.value?.message).toBe("It broke.");
    auth.failure.value?.retry();
    await new Promise((resolve) => setTimeout(resolve));
    expect([auth.me.value?.role, auth.failure.value]).toEqual(["teacher", null]);
  });

  it("can be undone by signing out", async () => {
    const { fetcher, calls } = fakeFetch({ body: TEACHER }, { body: NOBODY });
    const auth = new Auth(localStorage, fetcher);
    await auth.signIn("abc");
    await auth.signOut();
    expect(calls.at(-1)).toMatchObject({ method: "POST", path: "/api/leave", body: {} });
    expect(auth.me.value?.role).toBeNull();
  });
});
