/** A person's session: its state on the server, the request in progress, and what went wrong. */

import { computed, signal } from "@preact/signals";

import type { AnswerKind, GivenAnnotation, HistoryChange, RequestBody, SessionPath, SessionState, StageData, SubmittedStage } from "./api";
import { type PendingRequest, type PendingRequests, RequestQueue } from "./pending";
import { ANOTHER_SESSION, RejectedError, type Server, type UnavailableError, withRetries } from "./server";

export type Problem =
  | { kind: "unavailable"; message: string }
  | { kind: "failed"; message: string; retry: () => void; discard: (() => void) | null };

const NOTICES: Record<string, string> = {
  "already-answered": "That question is already answered, perhaps in another window. Here is the next one.",
  "nothing-to-undo": "There is nothing to undo.",
  "wrong-stage": "That step is already done, perhaps in another window. Here is the next one.",
};
const ANSWERS = "/api/session/events";
const REASONS = "/api/session/reasons";

export class Session {
  readonly state = signal<SessionState | null>(null);
  readonly pastGoal = signal(false); // whether a person chose to continue after the goal or the end of their arena, or
  readonly pastTotal = signal(false); // after all planned answers
  readonly problem = signal<Problem | null>(null);
  readonly notice = signal("");
  readonly busy = signal(false);
  readonly blocked = computed(() => this.busy.value || this.problem.value !== null);
  private readonly queue: RequestQueue;
  private reasons: Promise<unknown> = Promise.resolve(); // one request after the other
  private annotations: Promise<unknown> = Promise.resolve(); // and of these

  /** `reload` shows the page of whoever is signed in by now. */
  constructor(
    private readonly server: Server,
    pending: PendingRequests,
    private readonly reload: () => void = () => location.reload(),
  ) {
    this.queue = new RequestQueue(server, pending, (error, request) => this.showUnavailable(error, request));
  }

  /** Send the requests that an earlier visit could not, then load the state. */
  open(): Promise<void> {
    return this.run(async () => {
      await this.queue.sendPending();
      return this.load();
    });
  }

  /** Stop sending requests. */
  close(): void {
    this.queue.close();
  }

  answer(question: number, kind: AnswerKind, seconds: number): Promise<void> {
    return this.send(ANSWERS, { question, kind, seconds });
  }

  /** Name the reason of the last answer, or take it back. Nothing waits for it, and the question stays as it is. */
  giveReason(feature: string): void {
    const offered = this.state.value?.reasons;
    if (!offered) return;
    const { question } = offered;
    const named = offered.named === feature ? null : feature;
    this.showReason(question, named);
    const send = (): Promise<unknown> => this.queue.send(REASONS, { question, feature: named });
    this.reasons = this.reasons.then(send).catch((error: unknown) => {
      this.notice.value = error instanceof Error ? error.message : String(error);
      this.showReason(question, offered.named);
    });
  }

  /** Only while the reasons of that answer are shown: another one may have come meanwhile. */
  private showReason(question: number, named: string | null): void {
    const state = this.state.value;
    if (state?.reasons?.question === question) this.state.value = { ...state, reasons: { ...state.reasons, named } };
  }

  /** Undo the last answer, if there is one. */
  undo(): Promise<void> {
    const question = this.state.value?.undoable ?? null;
    return question === null ? Promise.resolve() : this.send("/api/session/undo", { question });
  }

  submit(stage: SubmittedStage, data: StageData): Promise<void> {
    return this.send("/api/session/stages", { stage, data });
  }

  change(question: number, kind: HistoryChange["kind"]): Promise<void> {
    return this.send("/api/history", { question, kind });
  }

  /** Ask about trajectories that the teacher chose by hand. */
  choose(items: number[]): Promise<void> {
    return this.send("/api/pool/question", { items });
  }

  /** Set a question aside that the teacher chose, so that the model asks again. */
  withdraw(question: number): Promise<void> {
    return this.send("/api/pool/question/withdraw", { question });
  }

  /** Write a note or a tag, or remove a tag. Nothing waits for it; why it was refused, or "". */
  annotate(annotation: Omit<GivenAnnotation, "key">): Promise<string> {
    const send = (): Promise<unknown> => this.queue.send("/api/annotations", annotation);
    const sent = this.annotations.then(send).then(() => "", (error: unknown) => (error instanceof Error ? error.message : String(error)));
    this.annotations = sent;
    return sent;
  }

  /** When all that was written so far is stored, or refused. */
  get annotated(): Promise<unknown> {
    return this.annotations;
  }

  private send<P extends SessionPath>(path: P, body: Omit<RequestBody<P>, "key">): Promise<void> {
    return this.run(() => this.queue.send(path, body));
  }

  private load(): Promise<SessionState> {
    return withRetries(() => this.server.get("/api/session"), (error) => this.showUnavailable(error, null));
  }

  /** One request at a time: a second click while the first is in progress does nothing. */
  private async run(request: () => Promise<SessionState>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    this.problem.value = null;
    this.notice.value = "";
    try {
      this.state.value = await request().catch((error: unknown) => this.recover(error));
    } catch (error) {
      this.problem.value = this.failure(error);
    } finally {
      this.busy.value = false;
    }
  }

  /** After a conflict, because another window was faster: say so, and load the state. */
  private recover(error: unknown): Promise<SessionState> {
    if (!(error instanceof RejectedError && error.status === 409) || isAnother(error)) throw error;
    this.notice.value = NOTICES[error.code] ?? error.message;
    return this.load();
  }

  private failure(error: unknown): Problem {
    const message = error instanceof Error ? error.message : String(error);
    if (isAnother(error)) return { kind: "failed", message, retry: this.reload, discard: null };
    const retry = (): void => void this.open();
    const discard = (): void => {
      this.queue.discard();
      retry();
    };
    return { kind: "failed", message, retry, discard: this.queue.isEmpty() ? null : discard };
  }

  private showUnavailable(error: UnavailableError | null, request: PendingRequest | null): void {
    this.problem.value = error && { kind: "unavailable", message: unavailableMessage(error, request) };
  }
}

/** Is somebody else signed in, or another session served, since this page was loaded? What is unsent stays stored. */
function isAnother(error: unknown): boolean {
  return error instanceof RejectedError && error.code === ANOTHER_SESSION;
}

/** What a person reads while the server is unavailable. */
export function unavailableMessage({ status, serverMessage, reason: silence }: UnavailableError, request: PendingRequest | null): string {
  const limited = status === 429;
  const reason = limited ? "The server asks for a short wait." : silence;
  const details = serverMessage && !limited ? ` It says: ${serverMessage}` : "";
  if (!request) return `${reason} This page continues as soon as it responds.${details}`;
  const what = request.path === ANSWERS ? "Your answer" : "Your last step";
  return `${reason} ${what} is saved in this browser and will be sent as soon as it responds.${details}`;
}
