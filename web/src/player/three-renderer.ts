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
import { pathOf, posesAt } from "./poses";
import type { Renderer } from "./renderer";
import { SolidOverlay } from "./solid-overlay";
import { movingPart } from "./viewport";

const CREASE = (35 * Math.PI) / 180; // edges sharper than this are not smoothed
const TRAIL_PIXELS = 2.5;
const TRAIL_OPACITY = 0.65;
const NEAR = 0.05;
const FAR = 100;
const SHADOW_PIXELS = 1024;
const MAX_PIXEL_RATIO = 2;
const MIN_SCALE = 0.4; // of the pixel ratio, where drawing is slow

export class ThreeRenderer implements Renderer {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly camera: PerspectiveCamera;
  private readonly moving: Group[];
  private readonly parts: SolidPart[]; // those that move
  private readonly main: number; // the index of the main part among them
  private readonly lines = new Group();
  private readonly overlay: SolidOverlay;
  private readonly sun: DirectionalLight;
  private readonly frameRate = new FrameRateMonitor(() => this.reduceQuality());
  private scale = 1; // of the pixel ratio, while it plays
  private shadows = true; // while it plays
  private ratio = 1; // of the screen
  private replay: Replay | null = null;
  private trails: Trail[] = [];
  private first: FirstFrame | null = null; // of the replay

  /** Labels and the ring are elements in `box`, over the canvas. */
  constructor(scene: SolidScene, canvas: HTMLCanvasElement, box: HTMLElement) {
    this.renderer = rendererFor(canvas);
    this.camera = cameraOf(scene);
    this.scene.background = new Color(scene.background);
    const groups = scene.parts.map(groupOf);
    this.parts = scene.parts.filter((part) => part.moves);
    this.moving = groups.filter((_, i) => scene.parts[i]?.moves);
    this.main = movingPart(scene, scene.main_part);
    this.sun = sunOver(scene);
    this.scene.add(...groups, skyLight(), this.sun, this.sun.target, this.lines);
    this.overlay = new SolidOverlay(scene, box);
  }

  load(replay: Replay, together: Replay[]): void {
    this.replay = replay;
    this.first = null;
    this.disposeTrails();
    this.trails = this.parts.map((part, i) => new Trail(part, pathOf(replay, i), replay.frame_time));
    this.lines.add(...this.trails.map((trail) => trail.line));
    this.overlay.load(replay, together);
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = Math.min(ratio, MAX_PIXEL_RATIO);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.overlay.resize(width, height);
  }

  draw(time: number, still: boolean, playing: boolean): void {
    if (!this.replay) return;
    this.useQuality(playing);
    const poses = posesAt(this.replay, time);
    poses.forEach((pose, part) => setPose(this.moving[part], pose));
    this.trails.forEach((trail, part) => trail.show(still, time, poses[part] ?? []));
    const main = poses[this.main];
    if (main) this.moving[this.main]?.scale.setScalar(this.overlay.enlargement(main));
    this.renderer.render(this.scene, this.camera);
    this.first ??= new FirstFrame(this.renderer.getContext() as WebGL2RenderingContext);
    if (playing) this.frameRate.drawn();
    this.overlay.show(time);
  }

  drawn(): boolean {
    return this.first?.drawn() ?? false;
  }

  private disposeTrails(): void {
    for (const { line } of this.trails) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.lines.clear();
  }

  /** First without shadows, then with fewer pixels; what is paused is always drawn in full. */
  private reduceQuality(): void {
    if (!this.shadows) this.scale = Math.max(0.7 * this.scale, MIN_SCALE);
    this.shadows = false;
  }

  /** Just before it draws, since a canvas of another size is blank. */
  private useQuality(playing: boolean): void {
    const ratio = (playing ? this.scale : 1) * this.ratio;
    this.sun.castShadow = this.shadows || !playing;
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
  }

  dispose(): void {
    this.disposeTrails();
    this.overlay.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers allow only a few contexts
  }
}

/** The first frame takes longest, seconds on a slow computer: drawing goes on after the command to draw. */
class FirstFrame {
  private readonly fence: WebGLSync | null;
  private done = false;

  constructor(private readonly context: WebGL2RenderingContext) {
    this.fence = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
    context.flush();
  }

  /** A lost context draws nothing, and nobody should wait for it. */
  drawn(): boolean {
    const { context, fence } = this;
    this.done ||= fence === null || context.isContextLost() || context.getSyncParameter(fence, context.SYNC_STATUS) === context.SIGNALED;
    return this.done;
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
  const isAbove = scene.view.eye[0] === scene.view.target[0] && scene.view.eye[1] === scene.view.target[1];
  camera.up.set(0, isAbove ? 1 : 0, isAbove ? 0 : 1);
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
  const distance = forward.length();
  const left = new Vector3(-forward.y, forward.x, 0).normalize();
  const sun = new DirectionalLight("#ffffff", 1.9);
  sun.position.copy(target).addScaledVector(left, 0.8 * distance).addScaledVector(forward, -0.3).add(new Vector3(0, 0, distance));
  sun.target.position.copy(target);
  castShadows(sun, distance);
  return sun;
}

function castShadows(sun: DirectionalLight, distance: number): void {
  sun.castShadow = true;
  sun.shadow.mapSize.set(SHADOW_PIXELS, SHADOW_PIXELS);
  sun.shadow.radius = 3;
  sun.shadow.intensity = 0.7;
  sun.shadow.normalBias = 0.02;
  const box = sun.shadow.camera;
  [box.left, box.right, box.bottom, box.top, box.far] = [-distance, distance, -distance, distance, 4 * distance];
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
  const known = geometries.get(mesh);
  if (known) return known;
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
