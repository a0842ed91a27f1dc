/** Calls to the server, and the two ways in which they go wrong: it refuses, or it is away. */

const TIMEOUT = 8_000;
const AWAY = new Set([408, 429, 502, 503, 504]);
export const FIRST_WAIT = 0.5; // seconds; doubled with every try
export const LONGEST_WAIT = 5;

/** The server understood and said no; asking again will not help by itself. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The server did not answer, or cannot do it now: the same call may work later. */
export class Away extends Error {
  constructor(
    readonly said = "", // the server's own words, if it was reached
    readonly status = 0,
    readonly rest: number | null = null, // seconds that the server asked us to wait
  ) {
    super(said || "The server is not answering.");
  }
}

export class Server {
  /** `forbidden` hears of every 403: the cookie is gone, or belongs to somebody else now. */
  constructor(
    private readonly forbidden: () => void = () => undefined,
    private readonly reach: typeof fetch = (...args) => fetch(...args),
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
    throw troubleOf(response, body);
  }

  private async exchange(path: string, request: RequestInit): Promise<{ response: Response; body: unknown }> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT);
    try {
      const response = await this.reach(path, { ...request, credentials: "same-origin", signal: stop.signal });
      return { response, body: await bodyOf(response) };
    } catch {
      throw new Away();
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A proxy before the server may answer an error in HTML: then the status has to be enough. */
async function bodyOf(response: Response): Promise<unknown> {
  return response.ok ? response.json() : response.json().catch(() => null);
}

function troubleOf(response: Response, body: unknown): Refused | Away {
  const said = (body as { error?: { code?: string; message?: string } } | null)?.error;
  if (AWAY.has(response.status)) return new Away(sentence(said?.message ?? ""), response.status, restOf(response));
  const message = sentence(said?.message ?? `the server answered with error ${response.status}`);
  return new Refused(response.status, said?.code ?? "", message);
}

/** The server's messages are written to be joined to others; alone they are sentences. */
function sentence(text: string): string {
  const whole = text && !/[.!?]$/.test(text) ? `${text}.` : text;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

function restOf(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : null;
}

/** How long to wait before the next try, in seconds. */
export function waitBefore(tries: number, trouble: Away): number {
  return trouble.rest ?? Math.min(FIRST_WAIT * 2 ** tries, LONGEST_WAIT);
}

/** Call until the server answers; `report` hears each failure, and null at the end. */
export async function patiently<T>(
  call: () => Promise<T>,
  report: (trouble: Away | null) => void,
  givenUp: () => boolean = () => false,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await call();
      report(null);
      return answer;
    } catch (trouble) {
      if (!(trouble instanceof Away)) throw trouble;
      report(trouble);
      await pause(waitBefore(tries, trouble), trouble.rest === null);
      if (givenUp()) throw trouble;
    }
  }
}

/** Wait; if `hurry`, no longer than until the browser says that the network is back. */
function pause(seconds: number, hurry: boolean): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", go);
      resolve();
    };
    const timer = setTimeout(go, seconds * 1000);
    if (hurry) window.addEventListener("online", go);
  });
}
