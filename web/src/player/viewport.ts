/**
 * From meters in a two-dimensional scene to pixels of a canvas. In meters y points up, in pixels down.
 *
 *     x_pixel = scale * x + dx,   y_pixel = -scale * y + dy
 */

import type { FlatScene, Pose, Replay, Window } from "../api";
import { boundingBox, pathOf } from "./poses";

export interface ViewTransform {
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

/** The index, among the moving parts, of the part that the window follows vertically; -1 if there is none. */
export function followedPart(scene: FlatScene): number {
  return scene.parts.filter((part) => part.moves).findIndex((part) => part.name === scene.view.follow);
}

/** The window at the time of these poses. */
export function windowAt(scene: FlatScene, poses: Pose[]): Window {
  const shift = poses[followedPart(scene)]?.[1] ?? 0;
  return { ...scene.view, bottom: scene.view.bottom + shift, top: scene.view.top + shift };
}

/** A window that shows these replays completely: one that follows a part covers its whole path. */
export function windowCovering(scene: FlatScene, replays: Replay[]): Window {
  const part = followedPart(scene);
  if (part < 0) return scene.view;
  const [low, high] = boundingBox(replays.flatMap((replay) => pathOf(replay, part)));
  return { ...scene.view, bottom: scene.view.bottom + low[1], top: scene.view.top + high[1] };
}

export function aspectRatio(window: Window): number {
  return (window.right - window.left) / (window.top - window.bottom);
}
