/** A fake `fetch`, and session states for it to respond with. */

import type { SessionState } from "../src/api";
import { SESSION_HEADER } from "../src/server";

export type FakeResponse = { status?: number; body?: unknown; headers?: Record<string, string> } | Error;

export interface Call {
  method: string;
  path: string;
  body: Record<string, unknown> | null;
  session: string | null; // that the request names
}

/** A `fetch` that gives these responses in turn, the last one repeatedly; `calls` records the requests. */
export function fakeFetch(...responses: FakeResponse[]): { fetcher: typeof fetch; calls: Call[] } {
  const calls: Call[] = [];
  const fetcher = (path: string, request: RequestInit): Promise<Response> => {
    const body = typeof request.body === "string" ? (JSON.parse(request.body) as Record<string, unknown>) : null;
    const session = new Headers(request.headers).get(SESSION_HEADER);
    calls.push({ method: request.method ?? "GET", path, body, session });
    const next = responses.length > 1 ? responses.shift() : responses[0];
    if (next instanceof Error) return Promise.reject(next);
    const { status = 200, body: responseBody = {}, headers = {} } = next ?? {};
    return Promise.resolve(new Response(JSON.stringify(responseBody), { status, headers }));
  };
  return { fetcher: fetcher as typeof fetch, calls };
}

export function rejection(status: number, code: string, message = "No."): FakeResponse {
  return { status, body: { error: { code, message } } };
}

export const NETWORK_ERROR = new TypeError("Failed to fetch");

export function sessionState(changes: Partial<SessionState> = {}): SessionState {
  return {
    stage: "compare",
    title: "Mini-golf",
    task_description: "Decide which target you like.",
    own_scores: null,
    text: null,
    answered: 0,
    total: 30,
    accuracy: null,
    goal: null,
    question: { id: 1, number: 1, items: [10, 11], value: null, unit: null, by_hand: false, kind: "pair" },
    choices: ["left", "right", "equal"],
    kinds: ["pair"],
    items: 2,
    ties: true,
    words: [],
    undoable: 1,
    reasons: null,
    can_skip: true,
    watch_to_end: false,
    target_scores: null,
    rating: null,
    arena: null,
    ...changes,
  };
}
