/**
 * From meters in a two-dimensional scene to pixels of a canvas. In meters y points up, in pixels down.
 *
 *     x_pixel = scale * x + dx,   y_pixel = -scale * y + dy
 */

import type { FlatScene, Pose, Replay, Window } from "../api";
import { pathOf } from "./poses";

const FOLLOW_MARGIN = 1 / 6; // of the width: the window moves sideways when the followed part is nearer to an edge
const FOLLOW_KEEP = 0.6; // of the first width: it stays in view, however far the followed part goes

interface ViewTransform {
  scale: number;
  dx: number;
  dy: number;
}

/** The smallest window around this one with the given aspect ratio: widened, never stretched. */
export function fitAspect(window: Window, aspect: number): Window {
  const width = window.right - window.left;
  const height = window.top - window.bottom;
  const x = Math.max(height * aspect - width, 0) / 2;
  const y = Math.max(width / aspect - height, 0) / 2;
  const { left, right, bottom, top } = window;
  return { ...window, left: left - x, right: right + x, bottom: bottom - y, top: top + y };
}

export function viewTransform(window: Window, width: number, height: number): ViewTransform {
  const wide = fitAspect(window, width / height);
  const scale = width / (wide.right - wide.left);
  return { scale, dx: -wide.left * scale, dy: wide.top * scale };
}

/** The index, among the moving parts, of the part with this name; -1 if there is none. */
export function movingPart(scene: { parts: { name: string; moves: boolean }[] }, name: string | null): number {
  return scene.parts.filter((part) => part.moves).findIndex((part) => part.name === name);
}

/** The window at the time of these poses. */
export function windowAt(scene: FlatScene, poses: Pose[]): Window {
  const pose = poses[movingPart(scene, scene.view.follow)];
  return pose ? covering(scene.view, [pose]) : scene.view;
}

/** A window that shows these replays completely: one that follows a part covers its whole path. */
export function windowCovering(scene: FlatScene, replays: Replay[]): Window {
  const part = movingPart(scene, scene.view.follow);
  return part < 0 ? scene.view : covering(scene.view, replays.flatMap((replay) => pathOf(replay, part)));
}

/** The smallest window that contains the windows at all these poses of the part that it follows. */
function covering(window: Window, poses: Pose[]): Window {
  const windows = poses.map((pose) => following(window, pose));
  const lowest = (edge: "left" | "bottom"): number => Math.min(...windows.map((one) => one[edge]));
  const highest = (edge: "right" | "top"): number => Math.max(...windows.map((one) => one[edge]));
  return { ...window, left: lowest("left"), right: highest("right"), bottom: lowest("bottom"), top: highest("top") };
}

/**
 * A window moves up and down with the part that it follows, and sideways as far as is needed to show that part.
 * Most of what it shows at first stays in view: if the part goes farther, the window becomes wider.
 */
function following(window: Window, [x = 0, y = 0]: Pose): Window {
  const { left, right, bottom, top } = window;
  const margin = FOLLOW_MARGIN * (right - left);
  const sideways = x - Math.min(Math.max(x, left + margin), right - margin);
  const farthest = (1 - FOLLOW_KEEP) * (right - left);
  const [leftward, rightward] = [Math.min(sideways, farthest), Math.max(sideways, -farthest)];
  return { ...window, left: left + leftward, right: right + rightward, bottom: bottom + y, top: top + y };
}

export function aspectRatio(window: Window): number {
  return (window.right - window.left) / (window.top - window.bottom);
}
