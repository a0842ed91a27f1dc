import type { WebGLRenderer } from "three";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Replay, SolidScene } from "../src/api";
import { ThreeRenderer } from "../src/player/three-renderer";

const calls: string[] = [];
const ratios: number[] = [];
let slow: () => void = () => undefined;

vi.mock("three", async (original) => ({
  ...(await original<typeof import("three")>()),
  WebGLRenderer: class implements Partial<WebGLRenderer> {
    shadowMap = {} as WebGLRenderer["shadowMap"];
    private ratio = 1;
    getPixelRatio = (): number => this.ratio;
    getContext = (): WebGL2RenderingContext => ({ fenceSync: () => null, flush: () => undefined }) as unknown as WebGL2RenderingContext;
    setSize = (): void => void calls.push("clear");
    render = (): void => void calls.push("draw");
    setPixelRatio = (ratio: number): void => {
      this.ratio = ratio;
      ratios.push(ratio);
      calls.push("clear");
    };
  },
}));
vi.mock("../src/player/frame-rate", () => ({
  FrameRateMonitor: class {
    constructor(onSlow: () => void) {
      slow = onSlow;
    }
    drawn = (): void => undefined;
  },
}));

const BALL: SolidScene["parts"][number] = {
  name: "ball",
  label: "",
  moves: true,
  trail: false,
  shapes: [{ shape: "mesh", color: "#ffffff", vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0], faces: [0, 1, 2] }],
};
const SCENE: SolidScene = {
  format: 1,
  dimensions: 3,
  background: "#ffffff",
  frame_time: 0.1,
  main_part: "ball",
  parts: [BALL],
  view: { kind: "camera", eye: [0, 0, 3], target: [0, 0, 0], fov: 40 },
};
const REPLAY: Replay = { format: 1, frame_time: 0.1, poses: [0, 1].map((x) => [[x, 0, 0, 1, 0, 0, 0]]) };

afterEach(() => calls.splice(0));

describe("a renderer with three.js", () => {
  it("never leaves the canvas blank when it lowers the quality", () => {
    const renderer = new ThreeRenderer(SCENE, document.createElement("canvas"), document.createElement("div"));
    renderer.load(REPLAY, [REPLAY]);
    renderer.resize(300, 200, 1);
    renderer.draw(0, false, true);
    for (let times = 0; times < 3; times += 1) slow();
    expect(calls.at(-1)).toBe("draw"); // paused, or at its end: nobody draws again
    renderer.draw(0.1, false, true);
    expect(calls.slice(-2)).toEqual(["clear", "draw"]);
  });

  it("draws what is paused in full, however slow it is", () => {
    const canvas = document.createElement("canvas");
    const renderer = new ThreeRenderer(SCENE, canvas, document.createElement("div"));
    renderer.load(REPLAY, [REPLAY]);
    renderer.resize(300, 200, 2);
    for (let times = 0; times < 3; times += 1) slow();
    renderer.draw(0, false, true);
    expect(ratios.at(-1)).toBeLessThan(2);
    renderer.draw(0, false, false);
    expect(ratios.at(-1)).toBe(2);
  });
});
