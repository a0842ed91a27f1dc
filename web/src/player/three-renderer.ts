/** Draws three-dimensional scenes with three.js. This file is loaded only when a scene needs it. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh as ThreeMesh,
  MeshLambertMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene as ThreeScene,
  Vector3,
  WebGLRenderer,
} from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";

import type { Mesh, Pose, Replay, SolidPart, SolidScene } from "../api";
import { FrameRateMonitor } from "./frame-rate";
import { type Box, boxAround, boxOf, placeLabels } from "./labels";
import { arrivalTime, pathOf, posesAt } from "./poses";
import type { Renderer } from "./renderer";
import { movingPart } from "./viewport";

const CREASE = (35 * Math.PI) / 180; // edges sharper than this are not smoothed
const TRAIL_PIXELS = 2.5;
const TRAIL_OPACITY = 0.65;
const MIN_SIZE = { pixels: 10, fraction: 0.03 }; // of the main part: it is drawn at least this large, also relative to the height
const RING = { radius: 8, gap: 4 }; // pixels: its smallest radius, its distance from the part
const NEAR = 0.05;
const FAR = 100;
const SHADOW_PIXELS = 1024;
const MAX_PIXEL_RATIO = 2;
const MIN_SCALE = 0.4; // of the pixel ratio, where drawing is slow
const PROCESSOR_SCALE = 0.6; // where the processor draws

export class ThreeRenderer implements Renderer {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly camera: PerspectiveCamera;
  private readonly moving: Group[];
  private readonly parts: SolidPart[]; // those that move
  private readonly main: number; // the index of the main part among them
  private readonly mainRadius: number; // meters
  private readonly lines = new Group();
  private readonly labels: Label[];
  private readonly ring = document.createElement("span");
  private readonly sun: DirectionalLight;
  private readonly frameRate = new FrameRateMonitor(() => this.reduceQuality());
  private scale: number; // of the pixel ratio
  private ratio = 1; // of the screen
  private replay: Replay | null = null;
  private group: Replay[] = [];
  private trails: Trail[] = [];
  private arrival = Infinity;
  private disposed = false;
  private width = 1;
  private height = 1;

  /**
   * Labels and the ring are elements in `overlay`, which lies over the canvas. If the processor draws, for want of a
   * graphics card, the first frame would take seconds: it begins without shadows and with fewer pixels.
   */
  constructor(scene: SolidScene, canvas: HTMLCanvasElement, overlay: HTMLElement, byProcessor = false) {
    this.renderer = rendererFor(canvas, !byProcessor);
    this.scale = byProcessor ? PROCESSOR_SCALE : 1;
    this.camera = cameraOf(scene);
    this.scene.background = new Color(scene.background);
    const groups = scene.parts.map(groupOf);
    this.parts = scene.parts.filter((part) => part.moves);
    this.moving = groups.filter((_, i) => scene.parts[i]?.moves);
    this.main = movingPart(scene, scene.main_part);
    this.mainRadius = radiusOf(this.parts[this.main]);
    this.sun = sunOver(scene);
    this.sun.castShadow = !byProcessor;
    this.scene.add(...groups, skyLight(), this.sun, this.sun.target, this.lines);
    this.labels = scene.parts.flatMap((part, i) => (part.label ? [new Label(part, groups[i] ?? new Group())] : []));
    this.ring.className = "scene-ring";
    overlay.append(...this.labels.map((label) => label.tag), this.ring);
  }

  load(replay: Replay, group: Replay[]): void {
    [this.replay, this.group] = [replay, group];
    this.arrival = arrivalTime(replay, this.main);
    this.disposeTrails();
    this.trails = this.parts.map((part, i) => new Trail(part, pathOf(replay, i), replay.frame_time));
    this.lines.add(...this.trails.map((trail) => trail.line));
    this.placeLabels();
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, Math.min(ratio, MAX_PIXEL_RATIO)];
    this.renderer.setPixelRatio(this.scale * this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.placeLabels();
  }

  draw(time: number, still: boolean): void {
    if (!this.replay) return;
    const poses = posesAt(this.replay, time);
    poses.forEach((pose, part) => setPose(this.moving[part], pose));
    this.trails.forEach((trail, part) => trail.show(still, time, poses[part] ?? []));
    this.showMainPart(poses[this.main], time >= this.arrival);
    this.renderer.render(this.scene, this.camera);
    this.frameRate.drawn();
    for (const label of this.labels) if (label.moves) label.moveAbove(this.projected);
  }

  /** The main part is enlarged where it would be too small to see, and has a ring when it has arrived. */
  private showMainPart(pose: Pose | undefined, arrived: boolean): void {
    this.ring.hidden = !pose || !arrived;
    if (!pose) return;
    const radius = this.drawnRadius(pose);
    this.moving[this.main]?.scale.setScalar(radius / Math.max(this.trueRadius(pose), 1e-9));
    const [x = 0, y = 0] = this.projected(pose);
    const size = 2 * Math.max(RING.radius, radius + RING.gap);
    this.ring.style.width = this.ring.style.height = `${size}px`;
    this.ring.style.transform = `translate(-50%, -50%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  /** The radius of the main part on the screen, in pixels. */
  private trueRadius([x = 0, y = 0, z = 0]: Pose): number {
    const depth = -new Vector3(x, y, z).applyMatrix4(this.camera.matrixWorldInverse).z;
    const focal = this.height / 2 / Math.tan((this.camera.fov * Math.PI) / 360);
    return (focal * this.mainRadius) / Math.max(depth, NEAR);
  }

  private drawnRadius(pose: Pose): number {
    return Math.max(this.trueRadius(pose), MIN_SIZE.pixels / 2, (MIN_SIZE.fraction * this.height) / 2);
  }

  /** Pixels of a point in meters. */
  private readonly projected = ([x = 0, y = 0, z = 0]: readonly number[]): number[] => {
    const point = new Vector3(x, y, z).project(this.camera);
    return [((point.x + 1) / 2) * this.width, ((1 - point.y) / 2) * this.height];
  };

  /** Labels of still parts: they cover no labelled part, and not the path of the main part in any of the replays. */
  private placeLabels(): void {
    const labels = this.labels.filter((label) => !label.moves);
    const anchors = labels.map((label) => label.box(this.projected));
    const bounds = { left: 0, top: 0, right: this.width, bottom: this.height };
    const boxes = placeLabels(labels.map((label) => label.size()), anchors, this.pathBoxes(), bounds);
    labels.forEach((label, i) => label.placeIn(boxes[i] ?? null));
  }

  private pathBoxes(): Box[] {
    const path = this.group.flatMap((replay) => pathOf(replay, this.main));
    return path.map((pose) => {
      const [x = 0, y = 0] = this.projected(pose);
      return boxAround(x, y, this.drawnRadius(pose));
    });
  }

  private disposeTrails(): void {
    for (const { line } of this.trails) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.lines.clear();
  }

  /** First without shadows, then with fewer pixels. */
  private reduceQuality(): void {
    if (this.disposed) return;
    if (!this.sun.castShadow) this.scale = Math.max(0.7 * this.scale, MIN_SCALE);
    this.sun.castShadow = false;
    if (this.renderer.getPixelRatio() !== this.scale * this.ratio) this.renderer.setPixelRatio(this.scale * this.ratio);
  }

  dispose(): void {
    this.disposed = true;
    this.disposeTrails();
    this.ring.remove();
    for (const label of this.labels) label.tag.remove();
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers allow only a few contexts
  }
}

function rendererFor(canvas: HTMLCanvasElement, antialias: boolean): WebGLRenderer {
  const renderer = new WebGLRenderer({ canvas, antialias });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap; // soft shadows, with the radius of the light
  return renderer;
}

function cameraOf(scene: SolidScene): PerspectiveCamera {
  const camera = new PerspectiveCamera(scene.view.fov, 1, NEAR, FAR);
  camera.up.set(0, 0, 1);
  camera.position.set(...scene.view.eye);
  camera.lookAt(...scene.view.target);
  return camera;
}

function skyLight(): HemisphereLight {
  const light = new HemisphereLight("#ffffff", "#b9c2b4", 1.9);
  light.position.set(0, 0, 1);
  return light;
}

/** High on the viewer's left: shadows to the side help to tell height from distance. */
function sunOver(scene: SolidScene): DirectionalLight {
  const target = new Vector3(...scene.view.target);
  const forward = target.clone().sub(new Vector3(...scene.view.eye));
  const fetcher = forward.length();
  const left = new Vector3(-forward.y, forward.x, 0).normalize();
  const sun = new DirectionalLight("#ffffff", 1.9);
  sun.position.copy(target).addScaledVector(left, 0.8 * fetcher).addScaledVector(forward, -0.3).add(new Vector3(0, 0, fetcher));
  sun.target.position.copy(target);
  castShadows(sun, fetcher);
  return sun;
}

function castShadows(sun: DirectionalLight, fetcher: number): void {
  sun.castShadow = true;
  sun.shadow.mapSize.set(SHADOW_PIXELS, SHADOW_PIXELS);
  sun.shadow.radius = 3;
  sun.shadow.intensity = 0.7;
  sun.shadow.normalBias = 0.02;
  const box = sun.shadow.camera;
  [box.left, box.right, box.bottom, box.top, box.far] = [-fetcher, fetcher, -fetcher, fetcher, 4 * fetcher];
}

function groupOf(part: SolidPart): Group {
  const group = new Group();
  group.add(...part.shapes.map(readBody));
  return group;
}

function readBody(mesh: Mesh): ThreeMesh {
  const object = new ThreeMesh(geometryOf(mesh), new MeshLambertMaterial({ color: mesh.color }));
  object.castShadow = true;
  object.receiveShadow = true;
  return object;
}

const geometries = new WeakMap<Mesh, BufferGeometry>(); // shared by all items of a question

function geometryOf(mesh: Mesh): BufferGeometry {
  const requests = geometries.get(mesh);
  if (requests) return requests;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(mesh.vertices), 3));
  geometry.setIndex(mesh.faces);
  const creased = toCreasedNormals(geometry, CREASE);
  geometries.set(mesh, creased);
  return creased;
}

function setPose(group: Group | undefined, pose: Pose): void {
  const [x = 0, y = 0, z = 0, w = 1, i = 0, j = 0, k = 0] = pose;
  group?.position.set(x, y, z);
  group?.quaternion.set(i, j, k, w); // three.js has the scalar part last
}

/** The distance from the origin of a part to its farthest point. */
function radiusOf(part: SolidPart | undefined): number {
  return (part?.shapes ?? []).reduce((radius, { vertices }) => Math.max(radius, ...cornersOf(vertices).map((at) => Math.hypot(...at))), 0);
}

function cornersOf(vertices: number[]): number[][] {
  return Array.from({ length: vertices.length / 3 }, (_, i) => vertices.slice(3 * i, 3 * i + 3));
}

/** The path of a part, as far as it has moved along it. */
class Trail {
  readonly line: Line2;
  private cut = -1; // the segment that ends where the part is now

  constructor(
    private readonly part: SolidPart,
    private readonly path: Pose[],
    private readonly frameTime: number,
  ) {
    const points = path.map(([x = 0, y = 0, z = 0]) => new Vector3(x, y, z));
    const material = new LineMaterial({
      color: part.shapes[0]?.color ?? "#ffffff",
      linewidth: TRAIL_PIXELS,
      opacity: TRAIL_OPACITY,
      transparent: true,
    });
    this.line = new Line2(new LineGeometry().setFromPoints(points), material);
    this.line.frustumCulled = false; // its last segment moves
  }

  /** Show the path from the start to a time, at which the part is `here`; in a still image the whole path. */
  show(still: boolean, time: number, here: Pose): void {
    this.line.visible = still || this.part.trail;
    const segments = this.path.length - 1;
    const segment = still ? segments : Math.min(Math.floor(time / this.frameTime + 1e-6), segments);
    this.endAt(this.cut, this.path[this.cut + 1]);
    this.cut = segment < segments ? segment : -1;
    this.endAt(this.cut, here);
    this.line.geometry.instanceCount = Math.min(segment + 1, segments);
  }

  private endAt(segment: number, pose: Pose | undefined): void {
    const ends = this.line.geometry.getAttribute("instanceEnd");
    if (segment < 0 || !pose) return;
    ends.setXYZ(segment, pose[0] ?? 0, pose[1] ?? 0, pose[2] ?? 0);
    if ("data" in ends) ends.data.needsUpdate = true;
  }
}

/** The name of a part beside it, as an HTML element: sharp at every size. */
class Label {
  readonly tag = document.createElement("span");
  readonly moves: boolean;
  private readonly corners: number[][];

  constructor(
    part: SolidPart,
    private readonly group: Group,
  ) {
    this.tag.className = "scene-label";
    this.tag.textContent = part.label;
    this.moves = part.moves;
    this.corners = part.shapes.flatMap(({ vertices }) => cornersOf(vertices));
  }

  size(): { width: number; height: number } {
    return { width: this.tag.offsetWidth, height: this.tag.offsetHeight };
  }

  /** The box around its part, in pixels. */
  box(projected: (point: number[]) => number[]): Box {
    const points = this.corners.map(([x, y, z]) => this.group.localToWorld(new Vector3(x, y, z)));
    return boxOf(points.map(({ x, y, z }) => projected([x, y, z])));
  }

  placeIn(box: Box | null): void {
    this.tag.style.visibility = box ? "visible" : "hidden"; // not display: its size is still measured
    if (box) this.tag.style.transform = `translate(${box.left.toFixed(1)}px, ${box.top.toFixed(1)}px)`;
  }

  moveAbove(projected: (point: number[]) => number[]): void {
    const { left, right, top } = this.box(projected);
    this.tag.style.transform = `translate(-50%, -100%) translate(${((left + right) / 2).toFixed(1)}px, ${top.toFixed(1)}px)`;
  }
}
