/**
 * Draws three-dimensional scenes by the processor, where no graphics card does: sharp at every size.
 *
 * What stays is drawn once; in each picture, only the tiles change that something moves through. So a picture takes a few
 * milliseconds of a slow processor, however large the screen is.
 */

import type { Pose, Replay, SolidPart, SolidScene } from "../../api";
import { pathOf, pathUntil, posesAt } from "../poses";
import type { Renderer } from "../renderer";
import { SolidCamera } from "../solid-camera";
import { SolidOverlay } from "../solid-overlay";
import { movingPart } from "../viewport";
import { Backdrop, rgbOf } from "./backdrop";
import { Projected, Projector } from "./projection";
import { PIXELS, Tile } from "./tile";
import { trianglesOf } from "./triangles";

const TRAIL_PIXELS = 2.5;
const DENSE = 1.5; // device pixels to a pixel of the page: from here on edges are fine with fewer samples
const MOST_BACKDROPS = 3; // kept: of the clips of a question, and of one that was shown large

interface Sizes {
  width: number; // device pixels
  height: number;
  samples: number;
}

export class SoftwareRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  private readonly overlay: SolidOverlay;
  private readonly moving: { part: SolidPart; layer: number }[];
  private readonly main: number; // the index of the main part among them
  private readonly projected = new Projected();
  private readonly pixels = new ImageData(PIXELS, PIXELS);
  private readonly image = new Uint32Array(this.pixels.data.buffer);
  private stage: Stage | null = null; // for the size of the box
  private changed = new Set<number>(); // tiles that differ from the backdrop
  private replay: Replay | null = null;
  private isDrawn = false;
  private ratio = 1;

  /** Labels and the ring are elements in `box`, over the canvas. */
  constructor(
    private readonly scene: SolidScene,
    private readonly canvas: HTMLCanvasElement,
    box: HTMLElement,
  ) {
    const context = canvas.getContext("2d", { willReadFrequently: true }); // in the memory of the processor
    if (!context) throw new Error("This browser cannot draw on a canvas. Try another browser.");
    this.context = context;
    this.overlay = new SolidOverlay(scene, box);
    this.moving = layersOf(scene).filter(({ part }) => part.moves);
    this.main = movingPart(scene, scene.main_part);
  }

  load(replay: Replay, together: Replay[]): void {
    this.replay = replay;
    this.isDrawn = false;
    this.overlay.load(replay, together);
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.overlay.resize(width, height);
    this.useStage();
  }

  draw(time: number, still: boolean): void {
    const { stage, replay } = this;
    if (!stage || !replay) return;
    this.projected.clear();
    const poses = posesAt(replay, time);
    this.moving.forEach(({ part, layer }, i) => {
      const pose = poses[i];
      if (!pose) return;
      const scale = i === this.main ? this.overlay.enlargement(pose) : 1;
      stage.projector.add(trianglesOf(part), this.projected, layer, pose, scale);
      if (part.trail || still) this.addTrail(part, still ? pathOf(replay, i) : pathUntil(replay, i, time), stage.projector);
    });
    this.drawTiles(stage);
    this.overlay.show(time);
    this.isDrawn = true;
  }

  drawn(): boolean {
    return this.isDrawn;
  }

  dispose(): void {
    this.replay = null;
    this.overlay.dispose();
  }

  private useStage(): void {
    const { width, height } = this.canvas;
    this.stage = stageOf(this.scene, { width, height, samples: this.ratio < DENSE ? 3 : 2 });
    this.context.drawImage(this.stage.backdrop.image, 0, 0);
    this.changed.clear();
  }

  private addTrail(part: SolidPart, path: Pose[], projector: Projector): void {
    projector.addLine(path, TRAIL_PIXELS * this.ratio, rgbOf(part.shapes[0]?.color ?? "#ffffff"), this.projected);
  }

  private drawTiles({ backdrop, tile }: Stage): void {
    const touched = backdrop.grid.sort(this.projected);
    for (const place of this.changed) if (!touched.has(place)) this.putBack(backdrop, place);
    for (const [place, triangles] of touched) {
      const [column, row] = backdrop.grid.placeOf(place);
      backdrop.begin(tile, place);
      for (const triangle of triangles) tile.draw(this.projected, triangle);
      tile.resolve(this.image);
      this.context.putImageData(this.pixels, PIXELS * column, PIXELS * row);
    }
    this.changed = new Set(touched.keys());
  }

  private putBack({ grid, image }: Backdrop, place: number): void {
    const [x = 0, y = 0] = grid.placeOf(place).map((at) => PIXELS * at);
    const [width, height] = [Math.min(PIXELS, image.width - x), Math.min(PIXELS, image.height - y)];
    this.context.drawImage(image, x, y, width, height, x, y, width, height);
  }
}

/** What all views of one size need. */
interface Stage extends Sizes {
  view: SolidScene["view"];
  projector: Projector;
  backdrop: Backdrop;
  tile: Tile;
}

const stages = new WeakMap<SolidPart[], Stage[]>(); // by the parts of a scene, the latest first

function stageOf({ view, parts, background }: SolidScene, { width, height, samples }: Sizes): Stage {
  const before = stages.get(parts) ?? [];
  const fits = (one: Stage): boolean => one.width === width && one.height === height && one.samples === samples && one.view === view;
  const stage = before.find(fits) ?? newStage();
  stages.set(parts, [stage, ...before.filter((one) => one !== stage)].slice(0, MOST_BACKDROPS));
  return stage;

  function newStage(): Stage {
    const camera = new SolidCamera(view);
    camera.resize(width, height);
    const projector = new Projector(camera, samples);
    const backdrop = new Backdrop(parts, background, projector, width, height, samples);
    return { view, width, height, samples, projector, backdrop, tile: new Tile(samples) };
  }
}

function layersOf({ parts }: SolidScene): { part: SolidPart; layer: number }[] {
  let layer = 0;
  return parts.map((part) => {
    const own = { part, layer };
    layer += part.shapes.length;
    return own;
  });
}
