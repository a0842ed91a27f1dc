/**
 * Requests to the kernel of a notebook, in messages of the widget's model.
 *
 *     request     id, method, path and body, as of an HTTP request
 *     response    id, status and body; the bytes of a file are in the message's buffer
 */

import { newKey } from "../pending";
import { clipPath } from "../player/clips";

/** What the widget needs of its model; anywidget gives it. */
export interface KernelModel {
  send(content: unknown): void;
  on(event: "msg:custom", listener: Listener): void;
  off(event: "msg:custom", listener: Listener): void;
}

type Listener = (content: unknown, buffers: readonly DataView[]) => void;

interface KernelResponse {
  id: string;
  status: number;
  body: unknown;
}

const VIDEO = { "Content-Type": "video/mp4" };
const JSON_BODY = { "Content-Type": "application/json" };

export class Kernel {
  private readonly waiting = new Map<string, (response: Response) => void>();
  private readonly addresses: string[] = []; // of files that the browser holds for the widget

  constructor(private readonly model: KernelModel) {
    model.on("msg:custom", this.onMessage);
  }

  /** As the global `fetch`, of paths that the kernel knows. */
  readonly fetch = (path: string, { method = "GET", body, signal }: RequestInit): Promise<Response> => {
    const id = newKey();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, resolve);
      signal?.addEventListener("abort", () => {
        this.waiting.delete(id);
        reject(new Error("the kernel did not respond in time"));
      });
      this.model.send({ id, method, path, body: typeof body === "string" ? (JSON.parse(body) as unknown) : null });
    });
  };

  /** The address of a clip, once the kernel has sent it. */
  readonly clip = async (index: number): Promise<string> => {
    const response = await this.fetch(clipPath(index), {});
    if (!response.ok) throw new Error(`the kernel has no clip ${index}`);
    const address = URL.createObjectURL(await response.blob());
    this.addresses.push(address);
    return address;
  };

  /** Stop listening, and free the files. */
  close(): void {
    this.model.off("msg:custom", this.onMessage);
    this.addresses.forEach((address) => URL.revokeObjectURL(address));
    this.waiting.clear();
  }

  /** Messages of other views of the same widget have ids that are not known here. */
  private readonly onMessage: Listener = (content, buffers) => {
    const { id, status, body } = content as KernelResponse;
    const resolve = this.waiting.get(id);
    this.waiting.delete(id);
    const [file] = buffers;
    resolve?.(new Response(file ? bytesOf(file) : JSON.stringify(body), { status, headers: file ? VIDEO : JSON_BODY }));
  };
}

/** Of the file alone: the buffer may hold the whole message. */
function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
