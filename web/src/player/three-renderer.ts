/** Draws three-dimensional scenes with three.js. This file is loaded only when a scene needs it. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Line,
  LineBasicMaterial,
  Mesh as ThreeMesh,
  MeshLambertMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene as ThreeScene,
  Vector3,
  WebGLRenderer,
} from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";

import type { Mesh, Pose, Replay, SolidPart, SolidScene } from "../api";
import { pathOf, posesAt } from "./poses";
import type { Renderer } from "./renderer";

const CREASE = (35 * Math.PI) / 180; // edges sharper than this are not smoothed
const TRAIL = "#1b2430";
const LABEL_OFFSET = 0.03; // of a label above the center of its part, as a fraction of the height
const NEAR = 0.05;
const FAR = 100;
const SHADOW_PIXELS = 1024;
const SLOW = 1 / 22; // seconds per frame; if drawing is slower, its quality is reduced
const RATE_FRAMES = 20; // over which the frame rate is measured
const MAX_PIXEL_RATIO = 2;
const MIN_PIXEL_RATIO = 0.5;

export class ThreeRenderer implements Renderer {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly camera: PerspectiveCamera;
  private readonly moving: Group[];
  private readonly trail = new Group();
  private readonly labels: Label[];
  private readonly sun: DirectionalLight;
  private readonly frameRate = new FrameRateMonitor();
  private replay: Replay | null = null;
  private width = 1;
  private height = 1;

  /** Labels are elements in `overlay`, which lies over the canvas. */
  constructor(scene: SolidScene, canvas: HTMLCanvasElement, overlay: HTMLElement) {
    this.renderer = rendererFor(canvas);
    this.camera = cameraOf(scene);
    this.scene.background = new Color(scene.background);
    const groups = scene.parts.map(groupOf);
    this.moving = groups.filter((_, i) => scene.parts[i]?.moves);
    this.sun = sunOver(scene);
    this.scene.add(...groups, skyLight(), this.sun, this.sun.target, this.trail);
    this.labels = scene.parts.flatMap((part, i) => (part.label ? [new Label(part, groups[i] ?? new Group())] : []));
    overlay.append(...this.labels.map((label) => label.tag));
  }

  load(replay: Replay): void {
    this.replay = replay;
    disposeLines(this.trail);
    this.trail.add(...this.moving.map((_, part) => lineOf(pathOf(replay, part))));
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height] = [width, height];
    this.renderer.setPixelRatio(Math.min(ratio, MAX_PIXEL_RATIO));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw(time: number, trail: boolean): void {
    if (!this.replay) return;
    posesAt(this.replay, time).forEach((pose, part) => setPose(this.moving[part], pose));
    this.trail.visible = trail;
    if (this.frameRate.isSlow()) this.reduceQuality();
    this.renderer.render(this.scene, this.camera);
    for (const label of this.labels) label.moveTo(this.camera, this.width, this.height);
  }

  /** First without shadows, then with fewer pixels. */
  private reduceQuality(): void {
    const ratio = this.renderer.getPixelRatio();
    if (this.sun.castShadow) this.sun.castShadow = false;
    else this.renderer.setPixelRatio(Math.max(0.7 * ratio, Math.min(ratio, MIN_PIXEL_RATIO)));
  }

  dispose(): void {
    disposeLines(this.trail);
    for (const label of this.labels) label.tag.remove();
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers allow only a few contexts
  }
}

function rendererFor(canvas: HTMLCanvasElement): WebGLRenderer {
  const renderer = new WebGLRenderer({ canvas, antialias: true });
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

function lineOf(path: Pose[]): Line {
  const points = path.map(([x, y, z]) => new Vector3(x, y, z));
  return new Line(new BufferGeometry().setFromPoints(points), new LineBasicMaterial({ color: TRAIL }));
}

function disposeLines(lines: Group): void {
  for (const line of lines.children) (line as Line).geometry.dispose();
  lines.clear();
}

/** The name of a part above its center, as an HTML element: sharp at every size. */
class Label {
  readonly tag = document.createElement("span");
  private readonly center = new Vector3();
  private transform = "";

  constructor(
    part: SolidPart,
    private readonly group: Group,
  ) {
    this.tag.className = "scene-label";
    this.tag.textContent = part.label;
    const box = new BufferGeometry();
    const vertices = part.shapes.flatMap((mesh) => mesh.vertices);
    box.setAttribute("position", new BufferAttribute(new Float32Array(vertices), 3));
    box.computeBoundingBox();
    box.boundingBox?.getCenter(this.center);
  }

  moveTo(camera: PerspectiveCamera, width: number, height: number): void {
    const point = this.group.localToWorld(this.center.clone()).project(camera);
    const x = ((point.x + 1) / 2) * width;
    const y = ((1 - point.y) / 2 - LABEL_OFFSET) * height;
    const transform = `translate(-50%, -100%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    if (transform === this.transform) return; // most labels do not move
    this.transform = transform;
    this.tag.hidden = point.z > 1;
    this.tag.style.transform = transform;
  }
}

/** Measures the time between frames that are drawn in a row. */
class FrameRateMonitor {
  private last = 0;
  private frames = 0;
  private total = 0;

  isSlow(): boolean {
    const now = performance.now() / 1000;
    const gap = now - this.last;
    this.last = now;
    if (gap > 0.5) return false; // it was paused
    this.frames += 1;
    this.total += gap;
    if (this.frames < RATE_FRAMES) return false;
    const slow = this.total / RATE_FRAMES > SLOW;
    [this.frames, this.total] = [0, 0];
    return slow;
  }
}
