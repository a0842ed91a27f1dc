/**
 * Where the labels of a scene go: beside their parts, clear of everything that people look at.
 *
 * Boxes are in pixels; y points down. The Python package places labels by the same rules: `rendering/labels.py`.
 */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Size {
  width: number;
  height: number;
}

const GAP = 2; // pixels between a part and its label
const RINGS = [0, 0.5, 1]; // distances from its part that are tried for a label, in lines of text
const CORNERS = [[0.6, -1], [-0.6, -1], [0.6, 1], [-0.6, 1], [1, -0.7], [-1, -0.7], [1, 0.7], [-1, 0.7]] as const;
const DIRECTIONS = [[0, -1], [0, 1], [1, 0], [-1, 0], ...CORNERS] as const; // the best first

/**
 * The boxes of labels of these sizes: inside `bounds`, without overlap with any anchor, obstacle or other label.
 * `anchors` are the boxes of their parts. A label that fits nowhere near its part is left out.
 */
export function placeLabels(sizes: Size[], anchors: Box[], obstacles: Box[], bounds: Box | null): (Box | null)[] {
  let order = sizes.map((_, own) => own);
  let best = placeInOrder(order, sizes, anchors, obstacles, bounds);
  for (let missing = missingFrom(best); missing.length > 0; missing = missingFrom(best)) {
    const first = missing;
    order = [...first, ...order.filter((own) => !first.includes(own))]; // they choose first this time
    const placed = placeInOrder(order, sizes, anchors, obstacles, bounds);
    if (missingFrom(placed).length >= first.length) break;
    best = placed;
  }
  return best;
}

function missingFrom(boxes: (Box | null)[]): number[] {
  return boxes.flatMap((box, own) => (box ? [] : [own]));
}

/** Each label in turn takes the best place that is still free. */
function placeInOrder(order: number[], sizes: Size[], anchors: Box[], obstacles: Box[], bounds: Box | null): (Box | null)[] {
  const taken = [...anchors, ...obstacles];
  const placed = sizes.map((): Box | null => null);
  for (const own of order) {
    const [anchor, size] = [anchors[own], sizes[own]];
    if (!anchor || !size) continue;
    const fits = (box: Box): boolean =>
      isInside(box, bounds) && !taken.some((other) => overlaps(box, other)) && nearest(box, anchors) === own;
    const box = candidates(anchor, size).find(fits);
    if (!box) continue;
    placed[own] = box;
    taken.push(box);
  }
  return placed;
}

/** Boxes of this size around an anchor, the nearest first. */
function candidates(anchor: Box, { width, height }: Size): Box[] {
  const [x, y] = [(anchor.left + anchor.right) / 2, (anchor.top + anchor.bottom) / 2];
  const reachX = (anchor.right - anchor.left + width) / 2;
  const reachY = (anchor.bottom - anchor.top + height) / 2;
  return RINGS.map((ring) => GAP + ring * height).flatMap((gap) =>
    DIRECTIONS.map(([dx, dy]) => {
      const [left, top] = [x + dx * (reachX + gap) - width / 2, y + dy * (reachY + gap) - height / 2];
      return { left, top, right: left + width, bottom: top + height };
    }),
  );
}

export function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function isInside(box: Box, bounds: Box | null): boolean {
  if (!bounds) return true;
  const { left, top, right, bottom } = bounds;
  return box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom;
}

/** The anchor closest to a box: a label belongs to that part in the eyes of a reader. */
function nearest(box: Box, anchors: Box[]): number {
  const gaps = anchors.map((anchor) =>
    Math.hypot(
      Math.max(anchor.left - box.right, box.left - anchor.right, 0),
      Math.max(anchor.top - box.bottom, box.top - anchor.bottom, 0),
    ),
  );
  return gaps.indexOf(Math.min(...gaps));
}

export function boxAround(x: number, y: number, radius: number): Box {
  return { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius };
}

/** The bounding box of points [x, y]. */
export function boxOf(points: readonly (readonly number[])[]): Box {
  const xs = points.map((point) => point[0] ?? 0);
  const ys = points.map((point) => point[1] ?? 0);
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}
