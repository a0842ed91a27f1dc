/** Sends files to the server in chunks, and follows how a session begins with them. */

import type { Beginning, NewSession } from "../api";
import { formatBytes, pluralize } from "../format";
import { type Server, withRetries } from "../server";

const POLL = 400; // milliseconds

/** What is being done, and how much of it; `total` is 0 while that is not known. */
export interface Progress {
  text: string;
  done: number;
  total: number;
}

export class Cancelled extends Error {}

/** The begun session's name, from files or a world. `report` is told how far it is; `cancelled` stops it. */
export class NewSessionRequest {
  private cancelled = false;
  private cancelOnServer: () => Promise<unknown> = () => Promise.resolve();

  constructor(
    private readonly server: Server,
    private readonly report: (progress: Progress) => void,
  ) {}

  async about(files: File[]): Promise<string> {
    const upload = await this.upload(files);
    return this.begin({ upload });
  }

  async begin(what: Partial<NewSession>): Promise<string> {
    const whole = { world: null, upload: null, name: "", trajectories: null, task_description: "", answers: null, ...what };
    let state = await this.server.post("/api/sessions", whole);
    this.cancelOnServer = () => this.server.post("/api/beginnings/cancel", { beginning: state.id });
    while (state.stage === "working") {
      this.report(state);
      await new Promise((resolve) => setTimeout(resolve, POLL));
      const id = state.id;
      state = await this.patiently(() => this.server.get("/api/beginnings/{beginning}", { beginning: id }));
    }
    return nameOf(state);
  }

  cancel(): void {
    this.cancelled = true;
    void this.cancelOnServer().catch(() => undefined);
  }

  private async upload(files: File[]): Promise<string> {
    const { id, chunk } = await this.server.post("/api/uploads", { files: files.map(({ name, size }) => ({ name, size })) });
    this.cancelOnServer = () => this.server.post("/api/uploads/cancel", { upload: id });
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const text = `Sending ${pluralize(files.length, "file")}, ${formatBytes(total)}`;
    let sent = 0;
    for (const [number, file] of files.entries()) {
      for (let offset = 0; offset < file.size; offset += chunk) {
        this.report({ text, done: sent + offset, total });
        const part = file.slice(offset, offset + chunk);
        await this.patiently(() => this.server.sendChunk(part, { upload: id, number, offset }));
      }
      sent += file.size;
    }
    return id;
  }

  private patiently<T>(call: () => Promise<T>): Promise<T> {
    if (this.cancelled) throw new Cancelled();
    return withRetries(call, () => undefined, () => this.cancelled);
  }
}

function nameOf({ stage, name, problem }: Beginning): string {
  if (stage === "failed") throw new Error(problem);
  return name;
}
