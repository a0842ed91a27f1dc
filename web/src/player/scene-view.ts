/** A scene in a box of the page: created once, then given one replay after another. */

import type { Replay, Scene } from "../api";
import { CanvasRenderer } from "./canvas-renderer";
import { hasGraphicsCard } from "./graphics-card";
import type { ItemPlayback, PlaybackTarget, Shown } from "./playback";
import { replayDuration } from "./poses";
import type { Renderer } from "./renderer";

const NOT_LOADED = "What draws three-dimensional scenes could not be loaded. Reload the page.";

export class SceneView implements PlaybackTarget {
  private renderer: Renderer | null = null;
  private replay: Replay | null = null;
  private together: Replay[] = [];
  private drawing = false; // the first frame of the replay
  private failed = false;
  private disposed = false;
  private readonly observer = new ResizeObserver(() => this.fit());
  private readonly unsubscribe: () => void;

  constructor(
    scene: Scene,
    private readonly box: HTMLElement,
    private readonly playback: ItemPlayback,
    private readonly onFailure: (message: string) => void,
  ) {
    this.unsubscribe = playback.add(this);
    void this.open(scene);
  }

  load(replay: Replay, together: Replay[]): void {
    this.replay = replay;
    this.together = together;
    this.drawing = false;
    this.renderer?.load(replay, together);
    this.playback.measure();
  }

  seconds(): number {
    return this.replay ? replayDuration(this.replay) : 0;
  }

  ready(): boolean {
    return this.failed || (this.renderer?.drawn() ?? false);
  }

  /** While a first frame is being drawn, of this view or of another one, more frames would only delay it. */
  show(playback: Shown): void {
    if (playback.waiting && this.drawing) return;
    this.drawing = this.renderer !== null;
    this.renderer?.draw(playback.time, playback.still, playback.clock.playing);
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
    if (this.replay) renderer.load(this.replay, this.together);
    this.observer.observe(this.box);
    this.fit();
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer?.resize(clientWidth, clientHeight, devicePixelRatio);
    this.renderer?.draw(this.playback.time, this.playback.still, this.playback.clock.playing); // a resized canvas is blank until it is drawn
  }
}

async function createRenderer(scene: Scene, box: HTMLElement): Promise<Renderer> {
  const canvas = document.createElement("canvas");
  box.replaceChildren(canvas);
  if (scene.dimensions === 2) return new CanvasRenderer(scene, canvas);
  const notLoaded = (): Promise<never> => Promise.reject(new Error(NOT_LOADED));
  if (hasGraphicsCard()) {
    const { ThreeRenderer } = await import("./three-renderer").catch(notLoaded);
    return new ThreeRenderer(scene, canvas, box);
  }
  const { SoftwareRenderer } = await import("./software/software-renderer").catch(notLoaded);
  return new SoftwareRenderer(scene, canvas, box);
}
