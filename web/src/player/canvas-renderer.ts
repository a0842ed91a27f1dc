/** Draws two-dimensional scenes on a canvas. */

import type { FlatPart, FlatScene, FlatShape, Pose, Replay } from "../api";
import { type Box, boxAround, boxOf, placeLabels } from "./labels";
import { arrivalTime, keyTimes, pathOf, pathUntil, posesAt } from "./poses";
import type { Renderer } from "./renderer";
import { movingPart, viewTransform, windowAt, windowCovering } from "./viewport";

const GHOSTS = 6;
const GHOST_OPACITY = 0.3;
const TRAIL_PIXELS = 2.5;
const TRAIL_OPACITY = 0.7;
const HALO = "#ffd84d";
const HALO_PIXELS = 6;
const RING = { color: "#ffffff", edge: "#1b2430", radius: 8, gap: 4 }; // pixels: its smallest radius, its distance from the part
const ORIGIN: Pose = [0, 0, 0];
const OUTLINE = 0.6; // brightness of an outline relative to its shape
const LABEL_PIXELS = 12;
const LABEL_FONT = `${LABEL_PIXELS}px system-ui, sans-serif`;

export class CanvasRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  private readonly moving: FlatPart[];
  private readonly main: number; // the index of the main part among the moving ones
  private replay: Replay | null = null;
  private together: Replay[] = [];
  private arrival = Infinity;
  private isDrawn = false;
  private labels: { scale: number; places: Map<FlatPart, [number, number]> } | null = null;
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
    this.moving = scene.parts.filter((part) => part.moves);
    this.main = movingPart(scene, scene.main_part);
  }

  load(replay: Replay, together: Replay[]): void {
    this.replay = replay;
    this.together = together;
    this.arrival = arrivalTime(replay, this.main);
    this.labels = null;
    this.isDrawn = false;
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  draw(time: number, still: boolean): void {
    if (!this.replay) return;
    const poses = posesAt(this.replay, time);
    const window = still ? windowCovering(this.scene, this.together) : windowAt(this.scene, poses);
    const { scale, dx, dy } = viewTransform(window, this.width, this.height);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.fillStyle = this.scene.background;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const r = this.ratio;
    this.context.setTransform(r * scale, 0, 0, -r * scale, r * dx, r * dy);
    this.drawParts(this.replay, time, poses, still, 1 / scale);
    const main = this.moving[this.main];
    if (main && time >= this.arrival) drawRing(this.context, main, poses[this.main] ?? ORIGIN, 1 / scale);
    this.drawLabels(poses, 1 / scale);
    this.isDrawn = true;
  }

  drawn(): boolean {
    return this.isDrawn;
  }

  dispose(): void {
    this.replay = null;
  }

  /** In the order of the parts; the trail of a part is below it. */
  private drawParts(replay: Replay, time: number, poses: Pose[], still: boolean, pixel: number): void {
    for (const part of this.scene.parts) {
      const index = this.moving.indexOf(part);
      const path = still ? pathOf(replay, index) : pathUntil(replay, index, time);
      if (part.moves && (part.trail || still)) drawTrail(this.context, part, path, pixel);
      if (part.moves && still) drawGhosts(this.context, part, index, replay, pixel);
      if (part.name === this.scene.main_part) drawHalo(this.context, part, poses[index] ?? ORIGIN, pixel);
      drawPart(this.context, part, poses[index] ?? ORIGIN, pixel);
    }
  }

  /** The labels of still parts have fixed places beside them; that of a moving part is above it. */
  private drawLabels(poses: Pose[], pixel: number): void {
    if (this.labels?.scale !== 1 / pixel) this.labels = { scale: 1 / pixel, places: this.placesOfLabels(1 / pixel) };
    for (const part of this.scene.parts) {
      if (!part.label) continue;
      const place = part.moves ? placeAbove(part, poses[this.moving.indexOf(part)] ?? ORIGIN, pixel) : this.labels.places.get(part);
      if (place) drawText(this.context, part.label, place, pixel);
    }
  }

  /** The centers of the labels of still parts, in meters: they cover no labelled part, and no part that moves past. */
  private placesOfLabels(scale: number): Map<FlatPart, [number, number]> {
    const parts = this.scene.parts.filter((part) => part.label && !part.moves);
    const toPixels = ([x = 0, y = 0]: readonly number[]): number[] => [scale * x, -scale * y];
    const sizes = parts.map((part) => textSize(this.context, part.label));
    const anchors = parts.map((part) => boxOf(pointsOf(part).map(toPixels)));
    const boxes = placeLabels(sizes, anchors, this.pathBoxes(toPixels, scale), null);
    return new Map(parts.flatMap((part, i) => (boxes[i] ? [[part, centerOf(boxes[i], scale)]] : [])));
  }

  private pathBoxes(toPixels: (point: number[]) => number[], scale: number): Box[] {
    return this.moving.flatMap((part, index) => {
      const radius = scale * radiusOf(part);
      const path = this.together.flatMap((replay) => pathOf(replay, index));
      return path.map((pose) => toPixels(pose)).map(([x = 0, y = 0]) => boxAround(x, y, radius));
    });
  }
}

function centerOf({ left, top, right, bottom }: Box, scale: number): [number, number] {
  return [(left + right) / 2 / scale, -(top + bottom) / 2 / scale];
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

/** Around the main part, so that it is seen at once. */
function drawHalo(context: CanvasRenderingContext2D, part: FlatPart, pose: Pose, pixel: number): void {
  withPose(context, pose, () => {
    context.strokeStyle = HALO;
    context.lineWidth = HALO_PIXELS * pixel;
    for (const shape of part.shapes) context.stroke(outlineOf(shape));
  });
}

function drawTrail(context: CanvasRenderingContext2D, part: FlatPart, path: Pose[], pixel: number): void {
  const line = new Path2D();
  for (const [x = 0, y = 0] of path) line.lineTo(x, y);
  context.strokeStyle = part.shapes[0]?.color ?? RING.edge;
  context.lineWidth = TRAIL_PIXELS * pixel;
  context.lineJoin = "round";
  context.lineCap = "round";
  context.globalAlpha = TRAIL_OPACITY;
  context.stroke(line);
  context.globalAlpha = 1;
}

/** Where a part was at some times, for still images. */
function drawGhosts(context: CanvasRenderingContext2D, part: FlatPart, index: number, replay: Replay, pixel: number): void {
  context.globalAlpha = GHOST_OPACITY;
  for (const time of keyTimes(replay, GHOSTS)) drawPart(context, part, posesAt(replay, time)[index] ?? ORIGIN, pixel);
  context.globalAlpha = 1;
}

/** Marks where the main part has come to its end: white with a dark edge, visible on every color. */
function drawRing(context: CanvasRenderingContext2D, part: FlatPart, [x = 0, y = 0]: Pose, pixel: number): void {
  const ring = new Path2D();
  ring.arc(x, y, Math.max(RING.radius * pixel, radiusOf(part) + RING.gap * pixel), 0, 2 * Math.PI);
  for (const [color, width] of [[RING.edge, 4], [RING.color, 2]] as const) {
    context.strokeStyle = color;
    context.lineWidth = width * pixel;
    context.stroke(ring);
  }
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

/** The center of a label just above a moving part. */
function placeAbove(part: FlatPart, [x = 0, y = 0, turn = 0]: Pose, pixel: number): [number, number] {
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const box = boxOf(pointsOf(part).map(([px = 0, py = 0]) => [cos * px - sin * py, sin * px + cos * py]));
  return [x + (box.left + box.right) / 2, y + box.bottom + (LABEL_PIXELS / 2 + 2) * pixel]; // y points up here
}

function textSize(context: CanvasRenderingContext2D, text: string): { width: number; height: number } {
  context.font = LABEL_FONT;
  return { width: context.measureText(text).width + 4, height: LABEL_PIXELS + 4 };
}

/** Upright and of constant size in pixels. Dark text with a light outline is readable on every color. */
function drawText(context: CanvasRenderingContext2D, text: string, [x, y]: [number, number], pixel: number): void {
  context.save();
  context.translate(x, y);
  context.scale(pixel, -pixel);
  context.font = LABEL_FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = "#ffffffd9";
  context.fillStyle = "#1b2430";
  context.strokeText(text, 0, 0);
  context.fillText(text, 0, 0);
  context.restore();
}

/** Points of a part that bound it; of a capsule, four around each end. */
function pointsOf(part: FlatPart): number[][] {
  return part.shapes.flatMap((shape): number[][] => {
    if (shape.shape === "polygon") return shape.points;
    const around = [[-1, 0], [1, 0], [0, -1], [0, 1]].map(([dx = 0, dy = 0]) => [shape.radius * dx, shape.radius * dy]);
    return [shape.start, shape.end].flatMap(([x, y]) => around.map(([dx = 0, dy = 0]) => [x + dx, y + dy]));
  });
}

/** The distance from the origin of a part to its farthest point. */
function radiusOf(part: FlatPart): number {
  return Math.max(0, ...pointsOf(part).map(([x = 0, y = 0]) => Math.hypot(x, y)));
}

/** The color of an outline, from the "#rrggbb" of its shape. */
export function darker(color: string): string {
  const channels = /^#(..)(..)(..)$/.exec(color)?.slice(1);
  if (!channels) return color;
  return `#${channels.map((channel) => Math.round(parseInt(channel, 16) * OUTLINE).toString(16).padStart(2, "0")).join("")}`;
}
