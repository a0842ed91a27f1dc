import { PerspectiveCamera, Quaternion, Vector3 } from "three";
import { afterEach, describe, expect, it } from "vitest";

import type { Replay, SolidScene } from "../src/api";
import { placed, SolidCamera } from "../src/player/solid-camera";
import { SolidOverlay } from "../src/player/solid-overlay";

const VIEW: SolidScene["view"] = { kind: "camera", eye: [-2.7, -2.9, 5.1], target: [1.6, -0.4, 0.2], fov: 27 };
const [WIDTH, HEIGHT] = [600, 400];

/** three.js's own projection, in pixels. */
function projectedByThree(point: [number, number, number]): number[] {
  const camera = new PerspectiveCamera(VIEW.fov, WIDTH / HEIGHT, 0.05, 100);
  camera.up.set(0, 0, 1);
  camera.position.set(...VIEW.eye);
  camera.lookAt(...VIEW.target);
  camera.updateMatrixWorld();
  const { x, y } = new Vector3(...point).project(camera);
  return [((x + 1) / 2) * WIDTH, ((1 - y) / 2) * HEIGHT];
}

function cameraOf(view: SolidScene["view"]): SolidCamera {
  const camera = new SolidCamera(view);
  camera.resize(WIDTH, HEIGHT);
  return camera;
}

describe("the camera of a solid scene", () => {
  it("puts points where three.js draws them", () => {
    const points: [number, number, number][] = [[0, 0, 0], [1.6, -0.4, 0.2], [3, 1, 0], [0.2, -1.5, 1.2]];
    for (const point of points) {
      const [x = 0, y = 0] = projectedByThree(point);
      expect(cameraOf(VIEW).project(point)).toEqual([expect.closeTo(x, 6), expect.closeTo(y, 6)]);
    }
  });

  it("may look straight down", () => {
    const camera = cameraOf({ kind: "camera", eye: [0, 0, 2], target: [0, 0, 0], fov: 90 });
    expect(camera.project([0, 0, 0])).toEqual([300, 200]);
    expect(camera.project([1, 1, 0])).toEqual([expect.closeTo(400), expect.closeTo(100)]);
  });

  it("turns and moves the points of a part as three.js does", () => {
    const turn = new Quaternion(0.1, -0.5, 0.3, 0.8).normalize();
    const { x, y, z } = new Vector3(0.3, 0.2, -0.7).applyQuaternion(turn);
    const found = placed([0.3, 0.2, -0.7], [1, 2, 3, turn.w, turn.x, turn.y, turn.z]);
    expect(found).toEqual([expect.closeTo(1 + x), expect.closeTo(2 + y), expect.closeTo(3 + z)]);
  });
});

const tile = (x: number): SolidScene["parts"][number]["shapes"] => [
  { shape: "mesh", vertices: [x - 0.1, -0.1, 0, x + 0.1, -0.1, 0, x, 0.1, 0], faces: [0, 1, 2], color: "#ff0000" },
];
const SCENE: SolidScene = {
  format: 1,
  dimensions: 3,
  frame_time: 0.5,
  background: "#ffffff",
  view: VIEW,
  main_part: "ball",
  parts: [
    { name: "goal", moves: false, label: "goal", trail: false, shapes: tile(2) },
    { name: "ball", moves: true, label: "ball", trail: true, shapes: tile(0) },
  ],
};
const REPLAY: Replay = { format: 1, frame_time: 0.5, poses: [0, 1, 2, 2].map((x) => [[x, 0, 0, 1, 0, 0, 0]]) };

afterEach(() => document.body.replaceChildren());

describe("the overlay of a solid scene", () => {
  it("names the parts, and marks the main part once it has arrived", () => {
    const box = document.body.appendChild(document.createElement("div"));
    const overlay = new SolidOverlay(SCENE, box);
    overlay.load(REPLAY, [REPLAY]);
    overlay.resize(WIDTH, HEIGHT);
    const [goal, ball] = [...box.querySelectorAll<HTMLElement>(".scene-label")];
    const ring = box.querySelector<HTMLElement>(".scene-ring");
    expect([goal?.textContent, ball?.textContent]).toEqual(["goal", "ball"]);
    overlay.show(0.5);
    const before = ball?.style.transform;
    expect(ring?.hidden).toBe(true);
    overlay.show(1.2);
    expect(ring?.hidden).toBe(false);
    expect(ball?.style.transform).not.toBe(before);
    const [x = 0, y = 0] = projectedByThree([2, 0, 0]);
    expect(ring?.style.transform).toContain(`translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`);
    overlay.dispose();
    expect(box.childElementCount).toBe(0);
  });
});
