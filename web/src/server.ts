/** Calls to the server, and the two ways in which they go wrong: it refuses, or it is away. */

const TIMEOUT = 8_000;
const UNAVAILABLE = new Set([408, 429, 502, 503, 504]);
export const FIRST_DELAY = 0.5; // seconds; doubled with every try
export const LONGEST_DELAY = 5;

/** The server understood and said no; asking again will not help by itself. */
export class RejectedError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The server did not answer, or cannot do it now: the same call may work later. */
export class UnavailableError extends Error {
  constructor(
    readonly serverMessage = "", // the server's own words, if it was reached
    readonly status = 0,
    readonly retryAfter: number | null = null, // seconds that the server asked us to wait
  ) {
    super(serverMessage || "The server is not answering.");
  }
}

export class Server {
  /** `forbidden` hears of every 403: the cookie is gone, or belongs to somebody else now. */
  constructor(
    private readonly forbidden: () => void = () => undefined,
    private readonly fetcher: typeof fetch = (...args) => fetch(...args),
  ) {}

  get<T>(path: string): Promise<T> {
    // Another person's link may be opened in this browser, and the same address then means something else.
    return this.call<T>(path, { method: "GET", cache: "no-store" });
  }

  post<T>(path: string, body: object): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    return this.call<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  private async call<T>(path: string, request: RequestInit): Promise<T> {
    const { response, body } = await this.exchange(path, request);
    if (response.ok) return body as T;
    if (response.status === 403 && path !== "/api/enter") this.forbidden();
    throw errorFrom(response, body);
  }

  private async exchange(path: string, request: RequestInit): Promise<{ response: Response; body: unknown }> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT);
    try {
      const response = await this.fetcher(path, { ...request, credentials: "same-origin", signal: stop.signal });
      return { response, body: await readBody(response) };
    } catch {
      throw new UnavailableError();
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A proxy before the server may answer an error in HTML: then the status has to be enough. */
async function readBody(response: Response): Promise<unknown> {
  return response.ok ? response.json() : response.json().catch(() => null);
}

function errorFrom(response: Response, body: unknown): RejectedError | UnavailableError {
  const serverMessage = (body as { error?: { code?: string; message?: string } } | null)?.error;
  if (UNAVAILABLE.has(response.status)) return new UnavailableError(sentence(serverMessage?.message ?? ""), response.status, retryAfterOf(response));
  const message = sentence(serverMessage?.message ?? `the server answered with error ${response.status}`);
  return new RejectedError(response.status, serverMessage?.code ?? "", message);
}

/** The server's messages are written to be joined to others; alone they are sentences. */
function sentence(text: string): string {
  const whole = text && !/[.!?]$/.test(text) ? `${text}.` : text;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : null;
}

/** How long to wait before the next try, in seconds. */
export function retryDelay(tries: number, error: UnavailableError): number {
  return error.retryAfter ?? Math.min(FIRST_DELAY * 2 ** tries, LONGEST_DELAY);
}

/** Call until the server answers; `report` hears each failure, and null at the end. */
export async function withRetries<T>(
  call: () => Promise<T>,
  report: (error: UnavailableError | null) => void,
  cancelled: () => boolean = () => false,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await call();
      report(null);
      return answer;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      report(error);
      await pause(retryDelay(tries, error), error.retryAfter === null);
      if (cancelled()) throw error;
    }
  }
}

/** Wait; if `hurry`, no longer than until the browser says that the network is back. */
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
