/** Where a person sits and answers: the sitting as the server knows it, what is under way, and what went wrong. */

import { computed, signal } from "@preact/signals";

import type { Choice, SessionState, Stage } from "./contract";
import { type PendingRequests, type PendingRequest, RequestQueue } from "./pending";
import { type UnavailableError, withRetries, RejectedError, type Server } from "./server";

export type Problem =
  | { kind: "away"; message: string }
  | { kind: "failed"; message: string; retry: () => void; discard: (() => void) | null };

const NOTICES: Record<string, string> = {
  "already-answered": "That pair was already answered, in another window perhaps. This is the next one.",
  "nothing-to-undo": "There is nothing to undo.",
  "wrong-stage": "That step was already done, in another window perhaps. This is the next one.",
};
const ANSWERS = "/api/answers";

export class Session {
  readonly state = signal<SessionState | null>(null);
  readonly problem = signal<Problem | null>(null);
  readonly notice = signal("");
  readonly busy = signal(false);
  readonly blocked = computed(() => this.busy.value || this.problem.value !== null);
  private readonly queue: RequestQueue;

  constructor(
    private readonly server: Server,
    pending: PendingRequests,
  ) {
    this.queue = new RequestQueue(server, pending, (problem, request) => this.showUnavailable(problem, request));
  }

  /** Send what an earlier visit left, then see where we are. */
  open(): Promise<void> {
    return this.run(async () => {
      await this.queue.sendPending();
      return this.load();
    });
  }

  /** The person has left. */
  close(): void {
    this.queue.close();
  }

  answer(question: number, choice: Choice, seconds: number): Promise<void> {
    return this.send(ANSWERS, { question, choice, seconds });
  }

  undo(): Promise<void> {
    return this.send("/api/undo", {});
  }

  step(stage: Stage, data: object): Promise<void> {
    return this.send("/api/steps", { stage, data });
  }

  change(question: number, change: "delete" | "restore"): Promise<void> {
    return this.send("/api/history", { question, change });
  }

  private send(path: string, body: object): Promise<void> {
    return this.run(() => this.queue.send(path, body));
  }

  private load(): Promise<SessionState> {
    return withRetries(() => this.server.get<SessionState>("/api/sitting"), (problem) => this.showUnavailable(problem, null));
  }

  /** One thing at a time: a second click while the first is under way does nothing. */
  private async run(work: () => Promise<SessionState>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    this.problem.value = null;
    this.notice.value = "";
    try {
      this.state.value = await work().catch((problem: unknown) => this.recover(problem));
    } catch (problem) {
      this.problem.value = this.failure(problem);
    } finally {
      this.busy.value = false;
    }
  }

  /** Another window was quicker: say so, and look again. */
  private recover(problem: unknown): Promise<SessionState> {
    if (!(problem instanceof RejectedError && problem.status === 409)) throw problem;
    this.notice.value = NOTICES[problem.code] ?? problem.message;
    return this.load();
  }

  private failure(problem: unknown): Problem {
    const message = problem instanceof Error ? problem.message : String(problem);
    const retry = (): void => void this.open();
    const discard = (): void => {
      this.queue.discard();
      retry();
    };
    return { kind: "failed", message, retry, discard: this.queue.isEmpty() ? null : discard };
  }

  private showUnavailable(problem: UnavailableError | null, request: PendingRequest | null): void {
    this.problem.value = problem && { kind: "away", message: unavailableMessage(problem, request) };
  }
}

/** What a person reads while the server is away. */
export function unavailableMessage(problem: UnavailableError, request: PendingRequest | null): string {
  const state = problem.status === 429 ? "The server asks for a short wait." : "The server is not answering.";
  const serverMessage = problem.serverMessage && problem.status !== 429 ? ` It says: ${problem.serverMessage}` : "";
  if (!request) return `${state} This page goes on when it is back.${serverMessage}`;
  const what = request.path === ANSWERS ? "Your answer" : "What you did last";
  return `${state} ${what} is kept here and will be sent when it is back.${serverMessage}`;
}
