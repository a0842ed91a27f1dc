/** Where a person sits and answers: the sitting as the server knows it, what is under way, and what went wrong. */

import { computed, signal } from "@preact/signals";

import type { Choice, Sitting, Stage } from "./contract";
import { type Drawer, type Letter, Outbox } from "./outbox";
import { type Away, patiently, Refused, type Server } from "./server";

export type Trouble =
  | { kind: "away"; words: string }
  | { kind: "failed"; words: string; again: () => void; discard: (() => void) | null };

const NOTICES: Record<string, string> = {
  "already-answered": "That pair was already answered, in another window perhaps. This is the next one.",
  "nothing-to-undo": "There is nothing to undo.",
  "wrong-stage": "That step was already done, in another window perhaps. This is the next one.",
};
const ANSWERS = "/api/answers";

export class Desk {
  readonly sitting = signal<Sitting | null>(null);
  readonly trouble = signal<Trouble | null>(null);
  readonly notice = signal("");
  readonly busy = signal(false);
  readonly blocked = computed(() => this.busy.value || this.trouble.value !== null);
  private readonly outbox: Outbox;

  constructor(
    private readonly server: Server,
    drawer: Drawer,
  ) {
    this.outbox = new Outbox(server, drawer, (trouble, letter) => this.showAway(trouble, letter));
  }

  /** Send what an earlier visit left, then see where we are. */
  open(): Promise<void> {
    return this.run(async () => {
      await this.outbox.flush();
      return this.look();
    });
  }

  /** The person has left. */
  close(): void {
    this.outbox.close();
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
    return this.run(() => this.outbox.send(path, body));
  }

  private look(): Promise<Sitting> {
    return patiently(() => this.server.get<Sitting>("/api/sitting"), (trouble) => this.showAway(trouble, null));
  }

  /** One thing at a time: a second click while the first is under way does nothing. */
  private async run(work: () => Promise<Sitting>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    this.trouble.value = null;
    this.notice.value = "";
    try {
      this.sitting.value = await work().catch((trouble: unknown) => this.overtaken(trouble));
    } catch (trouble) {
      this.trouble.value = this.failure(trouble);
    } finally {
      this.busy.value = false;
    }
  }

  /** Another window was quicker: say so, and look again. */
  private overtaken(trouble: unknown): Promise<Sitting> {
    if (!(trouble instanceof Refused && trouble.status === 409)) throw trouble;
    this.notice.value = NOTICES[trouble.code] ?? trouble.message;
    return this.look();
  }

  private failure(trouble: unknown): Trouble {
    const words = trouble instanceof Error ? trouble.message : String(trouble);
    const again = (): void => void this.open();
    const discard = (): void => {
      this.outbox.discard();
      again();
    };
    return { kind: "failed", words, again, discard: this.outbox.empty() ? null : discard };
  }

  private showAway(trouble: Away | null, letter: Letter | null): void {
    this.trouble.value = trouble && { kind: "away", words: awayWords(trouble, letter) };
  }
}

/** What a person reads while the server is away. */
export function awayWords(trouble: Away, letter: Letter | null): string {
  const state = trouble.status === 429 ? "The server asks for a short wait." : "The server is not answering.";
  const said = trouble.said && trouble.status !== 429 ? ` It says: ${trouble.said}` : "";
  if (!letter) return `${state} This page goes on when it is back.${said}`;
  const what = letter.path === ANSWERS ? "Your answer" : "What you did last";
  return `${state} ${what} is kept here and will be sent when it is back.${said}`;
}
