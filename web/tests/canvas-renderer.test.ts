import { beforeEach, describe, expect, it, vi } from "vitest";

import type { FlatScene, Replay } from "../src/api";
import { CanvasRenderer, darker } from "../src/player/canvas-renderer";

/** A path that records its points. */
class Outline {
  readonly points: [number, number][] = [];
  lineTo(x: number, y: number): void {
    this.points.push([x, y]);
  }
  arc(x: number, y: number): void {
    this.points.push([x, y]);
  }
  closePath(): void {
    return undefined;
  }
}

/** A 2D context that records where filled points lie on the canvas. */
class FakeContext {
  fillStyle = "";
  strokeStyle = "";
  lineWidth = 1;
  globalAlpha = 1;
  filled: { color: string; alpha: number; at: [number, number][] }[] = [];
  stroked: { color: string; at: [number, number][] }[] = [];
  texts: { text: string; at: [number, number] }[] = [];
  private matrix = [1, 0, 0, 1, 0, 0];
  private saved: number[][] = [];

  setTransform(...matrix: number[]): void {
    this.matrix = matrix;
  }
  save(): void {
    this.saved.push([...this.matrix]);
  }
  restore(): void {
    this.matrix = this.saved.pop() ?? this.matrix;
  }
  translate(x: number, y: number): void {
    this.times(1, 0, 0, 1, x, y);
  }
  rotate(turn: number): void {
    this.times(Math.cos(turn), Math.sin(turn), -Math.sin(turn), Math.cos(turn), 0, 0);
  }
  fillRect(): void {
    this.filled.push({ color: this.fillStyle, alpha: 1, at: [] });
  }
  stroke(outline: Outline): void {
    this.stroked.push({ color: this.strokeStyle, at: outline.points.map(([x, y]) => this.on(x, y)) });
  }
  measureText(text: string): { width: number } {
    return { width: 7 * text.length };
  }
  scale(x: number, y: number): void {
    this.times(x, 0, 0, y, 0, 0);
  }
  strokeText(): void {
    return undefined;
  }
  fillText(text: string): void {
    this.texts.push({ text, at: this.on(0, 0) });
  }
  fill(outline: Outline): void {
    const at = outline.points.map(([x, y]) => this.on(x, y));
    this.filled.push({ color: this.fillStyle, alpha: this.globalAlpha, at });
  }

  private times(a: number, b: number, c: number, d: number, e: number, f: number): void {
    const [A = 0, B = 0, C = 0, D = 0, E = 0, F = 0] = this.matrix;
    this.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  }
  private on(x: number, y: number): [number, number] {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = this.matrix;
    return [Math.round(a * x + c * y + e), Math.round(b * x + d * y + f)];
  }
}

const scene: FlatScene = {
  format: 1,
  dimensions: 2,
  frame_time: 1,
  background: "#eeeeee",
  view: { kind: "window", left: 0, right: 4, bottom: 0, top: 2, follow: null },
  main_part: null,
  parts: [
    { name: "arm", moves: true, label: "", trail: false, shapes: [{ shape: "polygon", points: [[0, 0], [1, 0]], color: "#ff0000" }] },
    { name: "post", moves: false, label: "", trail: false, shapes: [{ shape: "capsule", start: [1, 0], end: [1, 2], radius: 0.1, color: "#0000ff" }] },
  ],
};
const replay: Replay = { format: 1, frame_time: 1, poses: [[[2, 1, 0]], [[2, 1, Math.PI]]] };

let context: FakeContext;
let canvas: HTMLCanvasElement;

beforeEach(() => {
  vi.stubGlobal("Path2D", Outline);
  context = new FakeContext();
  canvas = { getContext: () => context } as unknown as HTMLCanvasElement;
});

function drawn(time: number, trail = false, ratio = 1): FakeContext["filled"] {
  const renderer = new CanvasRenderer(scene, canvas);
  renderer.load(replay, [replay]);
  renderer.resize(400, 200, ratio);
  renderer.draw(time, trail);
  return context.filled;
}

describe("a scene in 2D", () => {
  it("draws the background first, then the parts in their order", () => {
    expect(drawn(0).map(({ color }) => color)).toEqual(["#eeeeee", "#ff0000", "#0000ff"]);
  });

  it("has y in meters up and y in pixels down", () => {
    expect(drawn(0)[2]?.at).toEqual([
      [100, 200],
      [100, 0],
    ]);
  });

  it("rotates moving parts anticlockwise about their own origin", () => {
    expect(drawn(0)[1]?.at).toEqual([
      [200, 100],
      [300, 100],
    ]);
    context.filled = [];
    expect(drawn(0.5)[1]?.at).toEqual([
      [200, 100],
      [200, 0],
    ]);
  });

  it("uses every pixel of a high-resolution screen", () => {
    expect(drawn(0, false, 2)[1]?.at).toEqual([
      [400, 200],
      [600, 200],
    ]);
    expect([canvas.width, canvas.height]).toEqual([800, 400]);
  });

  it("draws translucent parts along the path for reduced motion", () => {
    const ghosts = drawn(1, true).filter(({ alpha }) => alpha < 1);
    expect(ghosts.map(({ color }) => color)).toEqual(Array.from({ length: 6 }, () => "#ff0000"));
    expect(ghosts[0]?.at[1]).toEqual([300, 100]);
    expect(ghosts[5]?.at[1]).toEqual([100, 100]);
  });

  it("marks the main part with a halo, a trail up to where it is, and a ring where it ends", () => {
    const [ball, post] = [
      { name: "ball", moves: true, label: "", trail: true, shapes: [{ shape: "capsule" as const, start: [0, 0] as [number, number], end: [0, 0] as [number, number], radius: 0.1, color: "#00ff00" }] },
      { ...scene.parts[1], name: "post", label: "", moves: false, trail: false, shapes: [] },
    ];
    const rolls: Replay = { format: 1, frame_time: 1, poses: [[[0, 1, 0]], [[2, 1, 0]], [[2, 1, 0]]] };
    const renderer = new CanvasRenderer({ ...scene, main_part: "ball", parts: [ball, post] }, canvas);
    renderer.load(rolls, [rolls]);
    renderer.resize(400, 200, 1);
    renderer.draw(0.5, false);
    expect(context.stroked.map(({ color }) => color)).toEqual(["#00ff00", "#ffd84d", "#009900"]);
    expect(context.stroked[0]?.at).toEqual([[0, 100], [100, 100]]);
    context.stroked = [];
    renderer.draw(1, false);
    expect(context.stroked.slice(3)).toEqual([{ color: "#1b2430", at: [[200, 100]] }, { color: "#ffffff", at: [[200, 100]] }]);
  });

  it("writes labels beside their parts and out of the way of what moves", () => {
    const [arm, post] = scene.parts;
    const goal = { ...post, name: "goal", moves: false, trail: false, label: "goal", shapes: [{ shape: "capsule" as const, start: [2, 1] as [number, number], end: [2, 1] as [number, number], radius: 0.1, color: "#ff0000" }] };
    const places = (x: number): unknown => {
      context.texts = [];
      const renderer = new CanvasRenderer({ ...scene, parts: arm ? [goal, { ...arm, shapes: [] }] : [] }, canvas);
      const passing: Replay = { format: 1, frame_time: 1, poses: [[[x, 1.18, 0]], [[x, 1.18, 0]]] };
      renderer.load(passing, [passing]);
      renderer.resize(400, 200, 1);
      renderer.draw(0, false);
      return context.texts;
    };
    expect(places(0)).toEqual([{ text: "goal", at: [200, 80] }]); // above its part
    expect(places(2)).toEqual([{ text: "goal", at: [200, 120] }]); // below it, since something passes above
  });

  it("has darker outlines", () => {
    expect(darker("#ffa000")).toBe("#996000");
    expect(darker("teal")).toBe("teal");
  });
});
