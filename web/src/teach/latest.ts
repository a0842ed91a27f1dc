/** One request at a time: of those that are asked for meanwhile, only the last one is sent. */

export class Latest<Question, Answer> {
  private waiting: { question: Question } | null = null;
  private busy = false;
  private closed = false;

  constructor(
    private readonly send: (question: Question) => Promise<Answer>,
    private readonly onAnswer: (answer: Answer) => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  ask(question: Question): void {
    this.waiting = { question };
    if (!this.busy) void this.run();
  }

  /** Say nothing more. */
  close(): void {
    this.closed = true;
    this.waiting = null;
  }

  private async run(): Promise<void> {
    this.busy = true;
    while (this.waiting) {
      const { question } = this.waiting;
      this.waiting = null;
      await this.send(question).then(
        (answer) => !this.closed && this.onAnswer(answer),
        (error: unknown) => !this.closed && this.onFailure(error),
      );
    }
    this.busy = false;
  }
}
