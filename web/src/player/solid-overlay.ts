/** Over a picture of a three-dimensional scene: the names of its parts, and a ring where the main part has arrived. */

import type { Pose, Replay, SolidPart, SolidScene } from "../api";
import { type Box, boxAround, boxOf, placeLabels } from "./labels";
import { arrivalTime, pathOf, posesAt } from "./poses";
import { placed, SolidCamera } from "./solid-camera";
import { movingPart } from "./viewport";

const MIN_SIZE = { pixels: 10, fraction: 0.03 }; // of the main part: it is drawn at least this large, also relative to the height
const RING = { radius: 8, gap: 4 }; // pixels: its smallest radius, its distance from the part
const IDENTITY: Pose = [0, 0, 0, 1, 0, 0, 0];

/** Elements of HTML in a box that lies over the picture: sharp at every size. */
export class SolidOverlay {
  private readonly camera: SolidCamera;
  private readonly main: number; // the index of the main part among those that move
  private readonly mainRadius: number; // meters
  private readonly labels: Label[];
  private readonly ring = document.createElement("span");
  private replay: Replay | null = null;
  private together: Replay[] = [];
  private arrival = Infinity;
  private width = 1;
  private height = 1;

  constructor(scene: SolidScene, box: HTMLElement) {
    this.camera = new SolidCamera(scene.view);
    const moving = scene.parts.filter((part) => part.moves);
    this.main = movingPart(scene, scene.main_part);
    this.mainRadius = Math.max(0, ...cornersOf(moving[this.main]).map((at) => Math.hypot(...at)));
    this.labels = scene.parts.flatMap((part) => (part.label ? [new Label(part, moving.indexOf(part))] : []));
    this.ring.className = "scene-ring";
    this.ring.hidden = true;
    box.append(...this.labels.map((label) => label.tag), this.ring);
  }

  load(replay: Replay, together: Replay[]): void {
    [this.replay, this.together] = [replay, together];
    this.arrival = arrivalTime(replay, this.main);
    this.placeLabels();
  }

  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
    this.camera.resize(width, height);
    this.placeLabels();
  }

  show(time: number): void {
    if (!this.replay) return;
    const poses = posesAt(this.replay, time);
    for (const label of this.labels) if (label.moves) label.moveAbove(label.box(this.camera, poses));
    this.showRing(poses[this.main], time >= this.arrival);
  }

  /** By how much the main part is enlarged, where it would be too small to see. */
  enlargement(pose: Pose): number {
    return this.drawnRadius(pose) / Math.max(this.trueRadius(pose), 1e-9);
  }

  dispose(): void {
    this.ring.remove();
    for (const label of this.labels) label.tag.remove();
  }

  private showRing(pose: Pose | undefined, arrived: boolean): void {
    this.ring.hidden = !pose || !arrived;
    if (!pose) return;
    const [x = 0, y = 0] = this.camera.project(pose);
    const size = 2 * Math.max(RING.radius, this.drawnRadius(pose) + RING.gap);
    this.ring.style.width = this.ring.style.height = `${size}px`;
    this.ring.style.transform = `translate(-50%, -50%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  /** The radius of the main part in the picture, in pixels. */
  private trueRadius(pose: Pose): number {
    return this.camera.pixelsPerMeter(pose) * this.mainRadius;
  }

  private drawnRadius(pose: Pose): number {
    return Math.max(this.trueRadius(pose), MIN_SIZE.pixels / 2, (MIN_SIZE.fraction * this.height) / 2);
  }

  /** Labels of still parts: they cover no labelled part, and not the path of the main part in any of the replays. */
  private placeLabels(): void {
    const labels = this.labels.filter((label) => !label.moves);
    const anchors = labels.map((label) => label.box(this.camera, []));
    const bounds = { left: 0, top: 0, right: this.width, bottom: this.height };
    const boxes = placeLabels(labels.map((label) => label.size()), anchors, this.pathBoxes(), bounds);
    labels.forEach((label, i) => label.placeIn(boxes[i] ?? null));
  }

  private pathBoxes(): Box[] {
    const path = this.together.flatMap((replay) => pathOf(replay, this.main));
    return path.map((pose) => {
      const [x = 0, y = 0] = this.camera.project(pose);
      return boxAround(x, y, this.drawnRadius(pose));
    });
  }
}

/** The name of a part beside it. */
class Label {
  readonly tag = document.createElement("span");
  private readonly corners: number[][];

  /** `index` is that of the part among those that move; -1 if it does not. */
  constructor(
    part: SolidPart,
    private readonly index: number,
  ) {
    this.tag.className = "scene-label";
    this.tag.textContent = part.label;
    this.corners = cornersOf(part);
  }

  get moves(): boolean {
    return this.index >= 0;
  }

  size(): { width: number; height: number } {
    return { width: this.tag.offsetWidth, height: this.tag.offsetHeight };
  }

  /** The box around its part in the picture, in pixels. */
  box(camera: SolidCamera, poses: Pose[]): Box {
    const pose = poses[this.index] ?? IDENTITY;
    return boxOf(this.corners.map((corner) => camera.project(placed(corner, pose))));
  }

  placeIn(box: Box | null): void {
    this.tag.style.visibility = box ? "visible" : "hidden"; // not display: its size is still measured
    if (box) this.tag.style.transform = `translate(${box.left.toFixed(1)}px, ${box.top.toFixed(1)}px)`;
  }

  moveAbove({ left, right, top }: Box): void {
    this.tag.style.transform = `translate(-50%, -100%) translate(${((left + right) / 2).toFixed(1)}px, ${top.toFixed(1)}px)`;
  }
}

function cornersOf(part: SolidPart | undefined): number[][] {
  return (part?.shapes ?? []).flatMap(({ vertices }) => Array.from({ length: vertices.length / 3 }, (_, i) => vertices.slice(3 * i, 3 * i + 3)));
}
