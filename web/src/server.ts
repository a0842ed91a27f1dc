/** Requests to the server, and the two ways they fail: the server rejects one, or it is unavailable. */

import type { ErrorBody, PathOf, PathParameters, paths, RequestBody, ResponseBody } from "./api";

const SIGN_IN: PathOf<"post"> = "/api/enter";
// Milliseconds. What is shown may take a slow server long to compute; an answer is kept, and sent again by its key.
const TIMEOUTS = { GET: 60_000, POST: 8_000 };
/** Sends a request and resolves with its response, as `fetch` does. */
type Fetcher = (path: string, request: RequestInit) => Promise<Response>;
type Sent = RequestInit & { method: keyof typeof TIMEOUTS };

const RETRYABLE = new Set([408, 429, 502, 503, 504]);
const FIRST_DELAY = 0.5; // seconds; doubled with every try
const LONGEST_DELAY = 5;

/** The server rejected the request; sending it again would not help. */
export class RejectedError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const NOT_RESPONDING = "The server is not responding.";

/** The server did not respond, or cannot serve the request now: the same request may succeed later. */
export class UnavailableError extends Error {
  constructor(
    readonly serverMessage = "", // empty if the server was not reached
    readonly status = 0,
    readonly retryAfter: number | null = null, // seconds, from the Retry-After header
    readonly reason = NOT_RESPONDING, // as a person reads it
  ) {
    super(serverMessage || "The server is not answering.");
  }
}

export const ANOTHER_SESSION = "another-session"; // the code of a refusal
export const SESSION_HEADER = "X-Prefero-Session";

export class Server {
  /** The session that requests are about; the server refuses those of another one. */
  session: string | null = null;

  /**
   * `onForbidden` is called after every 403: the cookie is gone, or belongs to somebody else now. `notResponding` is what
   * a person reads while requests are not answered.
   */
  constructor(
    private readonly onForbidden: () => void = () => undefined,
    private readonly fetcher: Fetcher = (...args) => fetch(...args),
    private readonly notResponding = NOT_RESPONDING,
  ) {}

  get<P extends PathOf<"get">>(path: P, ...[parameters]: PathParameters<P>): Promise<ResponseBody<"get", P>> {
    // Not cached: the same URL has another meaning after another person's link was opened in this browser.
    return this.call(filledPath(path, parameters as object | undefined), { method: "GET", cache: "no-store", headers: this.headers() });
  }

  post<P extends PathOf<"post">>(path: P, body: RequestBody<P>, session = this.session): Promise<ResponseBody<"post", P>> {
    const headers = { "Content-Type": "application/json", ...this.headers(session) };
    return this.call(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Add a part to a file of an upload. */
  sendChunk(chunk: Blob, place: { upload: string; number: number; offset: number }): Promise<ResponseBody<"post", "/api/uploads/chunk">> {
    const query = new URLSearchParams(Object.entries(place).map(([name, value]) => [name, String(value)]));
    const headers = { "Content-Type": "application/octet-stream", ...this.headers() };
    return this.call(`/api/uploads/chunk?${query.toString()}`, { method: "POST", headers, body: chunk }, TIMEOUTS.GET);
  }

  /** The address of what the browser loads by itself, a video for example: it sends no headers, so it names the session. */
  addressOf(path: string): string {
    return this.session === null ? path : `${path}?session=${encodeURIComponent(this.session)}`;
  }

  private headers(session = this.session): Record<string, string> {
    return session === null ? {} : { [SESSION_HEADER]: session };
  }

  private async call<Body>(path: string, request: Sent, timeout: number = TIMEOUTS[request.method]): Promise<Body> {
    const { response, body } = await this.exchange(path, request, timeout);
    if (response.ok) return body as Body;
    if (response.status === 403 && path !== SIGN_IN) this.onForbidden();
    throw errorFrom(response, body);
  }

  private async exchange(path: string, request: Sent, timeout: number): Promise<{ response: Response; body: unknown }> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), timeout);
    try {
      const response = await this.fetcher(path, { ...request, credentials: "same-origin", signal: stop.signal });
      return { response, body: await readBody(response) };
    } catch {
      throw new UnavailableError("", 0, null, this.notResponding);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** "/api/trajectories/{index}" and { index: 3 } give "/api/trajectories/3"; what is not in the path is its query. */
export function filledPath(path: keyof paths, parameters: object | undefined): string {
  const values = new Map<string, unknown>(Object.entries(parameters ?? {}));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name));
    values.delete(name);
    return value;
  });
  const query = [...values].flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
  return query.length > 0 ? `${filled}?${new URLSearchParams(query).toString()}` : filled;
}

/** A proxy in front of the server may respond with an HTML error page; then only the status is used. */
async function readBody(response: Response): Promise<unknown> {
  return response.ok ? response.json() : response.json().catch(() => null);
}

function errorFrom(response: Response, body: unknown): RejectedError | UnavailableError {
  const { status } = response;
  const { error } = (body ?? {}) as Partial<ErrorBody>; // not all errors come from this server
  if (RETRYABLE.has(status)) return new UnavailableError(sentence(error?.message ?? ""), status, retryAfterOf(response));
  return new RejectedError(status, error?.code ?? "", sentence(error?.message ?? `the server answered with error ${status}`));
}

/** Messages of the server begin in lower case and have no full stop. */
export function sentence(text: string): string {
  const whole = text && !/[.!?]$/.test(text) ? `${text}.` : text;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : null;
}

/** Seconds before the next attempt: what the server asked for, or exponential backoff. */
export function retryDelay(tries: number, error: UnavailableError): number {
  return error.retryAfter ?? Math.min(FIRST_DELAY * 2 ** tries, LONGEST_DELAY);
}

/** Call until the server is available. `report` gets each failure, and null after the success. */
export async function withRetries<T>(
  call: () => Promise<T>,
  report: (error: UnavailableError | null) => void,
  cancelled: () => boolean = () => false,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const result = await call();
      report(null);
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      report(error);
      await pause(retryDelay(tries, error), error.retryAfter === null);
      if (cancelled()) throw error;
    }
  }
}

/** Wait; with `untilOnline` at most until the browser reports that the network is back. */
function pause(seconds: number, untilOnline: boolean): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", go);
      resolve();
    };
    const timer = setTimeout(go, seconds * 1000);
    if (untilOnline) window.addEventListener("online", go);
  });
}
