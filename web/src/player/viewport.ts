/**
 * From the metres of a flat scene to the pixels of a canvas. Metres go up, pixels go down.
 *
 *     x_pixel = scale * x + dx,   y_pixel = -scale * y + dy
 */

import type { FlatScene, Pose, Replay, Window } from "../contract";
import { boundingBox, pathOf } from "./poses";

export interface ViewTransform {
  scale: number;
  dx: number;
  dy: number;
}

/** The smallest window around this one that is `aspect` times as wide as high: widened, never stretched. */
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

/** The place in the poses of the part that a window goes up and down with; -1 if it stays. */
export function followedPart(scene: FlatScene): number {
  return scene.parts.filter((part) => part.moves).findIndex((part) => part.name === scene.view.follow);
}

/** The window at this moment. */
export function windowAt(scene: FlatScene, poses: Pose[]): Window {
  const shift = poses[followedPart(scene)]?.[1] ?? 0;
  return { ...scene.view, bottom: scene.view.bottom + shift, top: scene.view.top + shift };
}

/** A window that shows the whole of these motions: one that follows is stretched over all that it passes. */
export function windowCovering(scene: FlatScene, replays: Replay[]): Window {
  const part = followedPart(scene);
  if (part < 0) return scene.view;
  const [low, high] = boundingBox(replays.flatMap((replay) => pathOf(replay, part)));
  return { ...scene.view, bottom: scene.view.bottom + low[1], top: scene.view.top + high[1] };
}

export function aspectRatio(window: Window): number {
  return (window.right - window.left) / (window.top - window.bottom);
}
