/** A scene in its box on the page: made once, and then given one replay after another. */

import type { Replay, Scene } from "../contract";
import { FlatPainter } from "./flat";
import type { Painter } from "./painter";
import type { Follower, Playback } from "./playback";
import { secondsOf } from "./poses";

export const NO_WEBGL =
  "This scene is solid, and this browser cannot draw it: WebGL is missing or switched off. " +
  "Please try another browser, or switch on hardware acceleration in its settings.";
const NOT_LOADED = "The part of this page that draws solid scenes could not be loaded. Please reload the page.";

export class StageView implements Follower {
  private painter: Painter | null = null;
  private replay: Replay | null = null;
  private among: Replay[] = [];
  private failed = false;
  private gone = false;
  private readonly watcher = new ResizeObserver(() => this.fit());
  private readonly leave: () => void;

  constructor(
    scene: Scene,
    private readonly box: HTMLElement,
    private readonly playback: Playback,
    private readonly onFailure: (words: string) => void,
  ) {
    this.leave = playback.add(this);
    void this.open(scene);
  }

  load(replay: Replay, among: Replay[]): void {
    this.replay = replay;
    this.among = among;
    this.painter?.load(replay, among);
    this.playback.measure();
  }

  seconds(): number {
    return this.replay ? secondsOf(this.replay) : 0;
  }

  ready(): boolean {
    return this.failed || this.painter !== null;
  }

  show(playback: Playback): void {
    this.painter?.paint(playback.time, playback.trail);
  }

  dispose(): void {
    this.gone = true;
    this.leave();
    this.watcher.disconnect();
    this.painter?.dispose();
  }

  private async open(scene: Scene): Promise<void> {
    try {
      const painter = await painterFor(scene, this.box);
      if (this.gone) painter.dispose();
      else this.use(painter);
    } catch (trouble) {
      this.failed = true;
      this.onFailure(trouble instanceof Error ? trouble.message : NOT_LOADED);
    }
  }

  private use(painter: Painter): void {
    this.painter = painter;
    if (this.replay) painter.load(this.replay, this.among);
    this.watcher.observe(this.box);
    this.fit();
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.painter?.resize(clientWidth, clientHeight, devicePixelRatio);
    this.painter?.paint(this.playback.time, this.playback.trail); // a resized canvas is blank until it is painted
  }
}

async function painterFor(scene: Scene, box: HTMLElement): Promise<Painter> {
  const canvas = document.createElement("canvas");
  box.replaceChildren(canvas);
  if (scene.dimensions === 2) return new FlatPainter(scene, canvas);
  if (!hasWebGL()) throw new Error(NO_WEBGL);
  const { SolidPainter } = await import("./solid").catch(() => Promise.reject(new Error(NOT_LOADED)));
  return new SolidPainter(scene, canvas, box);
}

function hasWebGL(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few at a time
  return context !== null;
}
