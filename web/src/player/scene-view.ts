/** A scene in a box of the page: created once, then given one replay after another. */

import type { Replay, Scene } from "../api";
import { CanvasRenderer } from "./canvas-renderer";
import type { Playback, PlaybackTarget } from "./playback";
import { replayDuration } from "./poses";
import type { Renderer } from "./renderer";

const NO_WEBGL =
  "This browser cannot draw three-dimensional scenes, because WebGL is missing or disabled. " +
  "Try another browser, or enable hardware acceleration in its settings.";
const PROCESSORS = /swiftshader|llvmpipe|softpipe|software|basic render/i; // programs that draw without a graphics card
const NOT_LOADED = "The part of this page that draws three-dimensional scenes could not be loaded. Reload the page.";

export class SceneView implements PlaybackTarget {
  private renderer: Renderer | null = null;
  private replay: Replay | null = null;
  private group: Replay[] = [];
  private failed = false;
  private disposed = false;
  private readonly observer = new ResizeObserver(() => this.fit());
  private readonly unsubscribe: () => void;

  constructor(
    scene: Scene,
    private readonly box: HTMLElement,
    private readonly playback: Playback,
    private readonly onFailure: (message: string) => void,
  ) {
    this.unsubscribe = playback.add(this);
    void this.open(scene);
  }

  load(replay: Replay, group: Replay[]): void {
    this.replay = replay;
    this.group = group;
    this.renderer?.load(replay, group);
    this.playback.measure();
  }

  seconds(): number {
    return this.replay ? replayDuration(this.replay) : 0;
  }

  ready(): boolean {
    return this.failed || this.renderer !== null;
  }

  show(playback: Playback): void {
    this.renderer?.draw(playback.time, playback.still);
  }

  dispose(): void {
    this.disposed = true;
    this.unsubscribe();
    this.observer.disconnect();
    this.renderer?.dispose();
  }

  private async open(scene: Scene): Promise<void> {
    try {
      const renderer = await createRenderer(scene, this.box);
      if (this.disposed) renderer.dispose();
      else this.use(renderer);
    } catch (error) {
      this.failed = true;
      this.onFailure(error instanceof Error ? error.message : NOT_LOADED);
    }
  }

  private use(renderer: Renderer): void {
    this.renderer = renderer;
    if (this.replay) renderer.load(this.replay, this.group);
    this.observer.observe(this.box);
    this.fit();
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer?.resize(clientWidth, clientHeight, devicePixelRatio);
    this.renderer?.draw(this.playback.time, this.playback.still); // a resized canvas is blank until it is drawn
  }
}

async function createRenderer(scene: Scene, box: HTMLElement): Promise<Renderer> {
  const canvas = document.createElement("canvas");
  box.replaceChildren(canvas);
  if (scene.dimensions === 2) return new CanvasRenderer(scene, canvas);
  const drawing = drawnBy();
  if (drawing === null) throw new Error(NO_WEBGL);
  const { ThreeRenderer } = await import("./three-renderer").catch(() => Promise.reject(new Error(NOT_LOADED)));
  return new ThreeRenderer(scene, canvas, box, PROCESSORS.test(drawing));
}

/** The name of what draws with WebGL, a graphics card or a program; null if the browser cannot draw with it. */
function drawnBy(): string | null {
  const context = document.createElement("canvas").getContext("webgl2");
  if (context === null) return null;
  const known = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(known?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few contexts
  return name;
}
