/** Draws two-dimensional scenes on a canvas. */

import type { FlatPart, FlatScene, FlatShape, Pose, Replay } from "../api";
import { boundingBox, keyTimes, pathOf, posesAt } from "./poses";
import type { Renderer } from "./renderer";
import { viewTransform, windowAt, windowCovering } from "./viewport";

const GHOSTS = 6;
const GHOST_OPACITY = 0.3;
const TRAIL = "#00000066";
const ORIGIN: Pose = [0, 0, 0];
const OUTLINE = 0.6; // brightness of an outline relative to its shape
const LABEL_PIXELS = 12;

export class CanvasRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  private replay: Replay | null = null;
  private group: Replay[] = [];
  private width = 1;
  private height = 1;
  private ratio = 1;

  constructor(
    private readonly scene: FlatScene,
    private readonly canvas: HTMLCanvasElement,
  ) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser cannot draw on a canvas. Try another browser.");
    this.context = context;
  }

  load(replay: Replay, group: Replay[]): void {
    this.replay = replay;
    this.group = group;
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  draw(time: number, trail: boolean): void {
    if (!this.replay) return;
    const poses = posesAt(this.replay, time);
    const window = trail ? windowCovering(this.scene, this.group) : windowAt(this.scene, poses);
    const { scale, dx, dy } = viewTransform(window, this.width, this.height);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.fillStyle = this.scene.background;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const r = this.ratio;
    this.context.setTransform(r * scale, 0, 0, -r * scale, r * dx, r * dy);
    this.drawParts(poses, trail ? this.replay : null, 1 / scale);
  }

  dispose(): void {
    this.replay = null;
  }

  /** In the order of the parts; the trail of a part is below it. */
  private drawParts(poses: Pose[], trail: Replay | null, pixel: number): void {
    const moving = this.scene.parts.filter((part) => part.moves);
    const poseOf = (part: FlatPart): Pose => poses[moving.indexOf(part)] ?? ORIGIN;
    for (const part of this.scene.parts) {
      if (trail && part.moves) drawTrail(this.context, part, moving.indexOf(part), trail, pixel);
      drawPart(this.context, part, poseOf(part), pixel);
    }
    for (const part of this.scene.parts) if (part.label) drawLabel(this.context, part, poseOf(part), pixel);
  }
}

function withPose(context: CanvasRenderingContext2D, pose: Pose, draw: () => void): void {
  context.save();
  context.translate(pose[0] ?? 0, pose[1] ?? 0);
  context.rotate(pose[2] ?? 0);
  draw();
  context.restore();
}

/** Moving parts have an outline, so that they stand out. */
function drawPart(context: CanvasRenderingContext2D, part: FlatPart, pose: Pose, pixel: number): void {
  withPose(context, pose, () => {
    for (const shape of part.shapes) {
      const outline = outlineOf(shape);
      context.fillStyle = shape.color;
      context.fill(outline);
      if (!part.moves) continue;
      context.lineWidth = pixel;
      context.strokeStyle = darker(shape.color);
      context.stroke(outline);
    }
  });
}

function drawTrail(
  context: CanvasRenderingContext2D,
  part: FlatPart,
  index: number,
  replay: Replay,
  pixel: number,
): void {
  const line = new Path2D();
  for (const [x = 0, y = 0] of pathOf(replay, index)) line.lineTo(x, y);
  context.strokeStyle = TRAIL;
  context.lineWidth = 2 * pixel;
  context.stroke(line);
  context.globalAlpha = GHOST_OPACITY;
  for (const time of keyTimes(replay, GHOSTS)) drawPart(context, part, posesAt(replay, time)[index] ?? ORIGIN, pixel);
  context.globalAlpha = 1;
}

const outlines = new WeakMap<FlatShape, Path2D>();

function outlineOf(shape: FlatShape): Path2D {
  const requests = outlines.get(shape);
  if (requests) return requests;
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

/** A semicircle around each end. */
function capsuleOutline(shape: Extract<FlatShape, { shape: "capsule" }>): Path2D {
  const { start, end, radius } = shape;
  const turn = Math.atan2(end[1] - start[1], end[0] - start[0]);
  const outline = new Path2D();
  outline.arc(start[0], start[1], radius, turn + Math.PI / 2, turn + (3 * Math.PI) / 2);
  outline.arc(end[0], end[1], radius, turn - Math.PI / 2, turn + Math.PI / 2);
  outline.closePath();
  return outline;
}

/** Upright and of constant size in pixels, whatever the scale of the scene. */
function drawLabel(context: CanvasRenderingContext2D, part: FlatPart, pose: Pose, pixel: number): void {
  const [[left, bottom], [right, top]] = boundingBox(part.shapes.flatMap(cornersOf));
  withPose(context, pose, () => {
    context.translate((left + right) / 2, (bottom + top) / 2);
    context.rotate(-(pose[2] ?? 0));
    context.scale(pixel, -pixel);
    drawText(context, part.label);
  });
}

/** Dark text with a light outline is readable on every color. */
function drawText(context: CanvasRenderingContext2D, text: string): void {
  context.font = `${LABEL_PIXELS}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = "#ffffffd9";
  context.fillStyle = "#1b2430";
  context.strokeText(text, 0, 0);
  context.fillText(text, 0, 0);
}

function cornersOf(shape: FlatShape): number[][] {
  return shape.shape === "polygon" ? shape.points : [shape.start, shape.end];
}

/** The color of an outline, from the "#rrggbb" of its shape. */
export function darker(color: string): string {
  const parts = /^#(..)(..)(..)$/.exec(color)?.slice(1);
  if (!parts) return color;
  return `#${parts.map((part) => Math.round(parseInt(part, 16) * OUTLINE).toString(16).padStart(2, "0")).join("")}`;
}
