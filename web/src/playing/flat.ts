/** Flat scenes, drawn on a canvas. */

import type { FlatScene, FlatShape, Part, Pose, Replay } from "../contract";
import type { Painter } from "./painter";
import { boxOf, keyTimes, pathOf, posesAt } from "./poses";
import { mappingOf, windowAt, windowOver } from "./window";

const GHOSTS = 6;
const GHOST_STRENGTH = 0.3;
const TRAIL = "#00000066";
const UNMOVED: Pose = [0, 0, 0];
const OUTLINE = 0.6; // how much darker than its shape
const LABEL_PIXELS = 12;

export class FlatPainter implements Painter {
  private readonly pen: CanvasRenderingContext2D;
  private replay: Replay | null = null;
  private among: Replay[] = [];
  private width = 1;
  private height = 1;
  private ratio = 1;

  constructor(
    private readonly scene: FlatScene,
    private readonly canvas: HTMLCanvasElement,
  ) {
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("This browser cannot draw on a canvas: please try another one.");
    this.pen = pen;
  }

  load(replay: Replay, among: Replay[]): void {
    this.replay = replay;
    this.among = among;
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  paint(time: number, trail: boolean): void {
    if (!this.replay) return;
    const poses = posesAt(this.replay, time);
    const window = trail ? windowOver(this.scene, this.among) : windowAt(this.scene, poses);
    const { scale, dx, dy } = mappingOf(window, this.width, this.height);
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    this.pen.fillStyle = this.scene.background;
    this.pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const r = this.ratio;
    this.pen.setTransform(r * scale, 0, 0, -r * scale, r * dx, r * dy);
    this.paintParts(poses, trail ? this.replay : null, 1 / scale);
  }

  dispose(): void {
    this.replay = null;
  }

  /** Parts lie on each other in their order; the trail of a part lies under it. */
  private paintParts(poses: Pose[], trail: Replay | null, pixel: number): void {
    const moving = this.scene.parts.filter((part) => part.moves);
    const poseOf = (part: Part<FlatShape>): Pose => poses[moving.indexOf(part)] ?? UNMOVED;
    for (const part of this.scene.parts) {
      if (trail && part.moves) paintTrail(this.pen, part, moving.indexOf(part), trail, pixel);
      paintPart(this.pen, part, poseOf(part), pixel);
    }
    for (const part of this.scene.parts) if (part.label) paintLabel(this.pen, part, poseOf(part), pixel);
  }
}

function placed(pen: CanvasRenderingContext2D, pose: Pose, draw: () => void): void {
  pen.save();
  pen.translate(pose[0] ?? 0, pose[1] ?? 0);
  pen.rotate(pose[2] ?? 0);
  draw();
  pen.restore();
}

/** What moves has an outline, so that it stands out from what stays. */
function paintPart(pen: CanvasRenderingContext2D, part: Part<FlatShape>, pose: Pose, pixel: number): void {
  placed(pen, pose, () => {
    for (const shape of part.shapes) {
      const outline = outlineOf(shape);
      pen.fillStyle = shape.colour;
      pen.fill(outline);
      if (!part.moves) continue;
      pen.lineWidth = pixel;
      pen.strokeStyle = darker(shape.colour);
      pen.stroke(outline);
    }
  });
}

function paintTrail(
  pen: CanvasRenderingContext2D,
  part: Part<FlatShape>,
  place: number,
  replay: Replay,
  pixel: number,
): void {
  const line = new Path2D();
  for (const [x = 0, y = 0] of pathOf(replay, place)) line.lineTo(x, y);
  pen.strokeStyle = TRAIL;
  pen.lineWidth = 2 * pixel;
  pen.stroke(line);
  pen.globalAlpha = GHOST_STRENGTH;
  for (const time of keyTimes(replay, GHOSTS)) paintPart(pen, part, posesAt(replay, time)[place] ?? UNMOVED, pixel);
  pen.globalAlpha = 1;
}

const outlines = new WeakMap<FlatShape, Path2D>();

function outlineOf(shape: FlatShape): Path2D {
  const known = outlines.get(shape);
  if (known) return known;
  const outline = shape.shape === "polygon" ? polygonOutline(shape.points) : capsuleOutline(shape);
  outlines.set(shape, outline);
  return outline;
}

function polygonOutline(points: readonly (readonly [number, number])[]): Path2D {
  const outline = new Path2D();
  for (const [x, y] of points) outline.lineTo(x, y);
  outline.closePath();
  return outline;
}

/** Half a circle around each end. */
function capsuleOutline(shape: Extract<FlatShape, { shape: "capsule" }>): Path2D {
  const { start, end, radius } = shape;
  const turn = Math.atan2(end[1] - start[1], end[0] - start[0]);
  const outline = new Path2D();
  outline.arc(start[0], start[1], radius, turn + Math.PI / 2, turn + (3 * Math.PI) / 2);
  outline.arc(end[0], end[1], radius, turn - Math.PI / 2, turn + Math.PI / 2);
  outline.closePath();
  return outline;
}

/** Written upright and in pixels, whatever the scale of the scene. */
function paintLabel(pen: CanvasRenderingContext2D, part: Part<FlatShape>, pose: Pose, pixel: number): void {
  const [[left, bottom], [right, top]] = boxOf(part.shapes.flatMap(cornersOf));
  placed(pen, pose, () => {
    pen.translate((left + right) / 2, (bottom + top) / 2);
    pen.rotate(-(pose[2] ?? 0));
    pen.scale(pixel, -pixel);
    writeOn(pen, part.label);
  });
}

/** Dark text with a light edge can be read on every colour. */
function writeOn(pen: CanvasRenderingContext2D, text: string): void {
  pen.font = `${LABEL_PIXELS}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineWidth = 3;
  pen.lineJoin = "round";
  pen.strokeStyle = "#ffffffd9";
  pen.fillStyle = "#1b2430";
  pen.strokeText(text, 0, 0);
  pen.fillText(text, 0, 0);
}

function cornersOf(shape: FlatShape): number[][] {
  return shape.shape === "polygon" ? shape.points : [shape.start, shape.end];
}

/** A "#rrggbb" colour for the edge of a shape. */
export function darker(colour: string): string {
  const parts = /^#(..)(..)(..)$/.exec(colour)?.slice(1);
  if (!parts) return colour;
  return `#${parts.map((part) => Math.round(parseInt(part, 16) * OUTLINE).toString(16).padStart(2, "0")).join("")}`;
}
