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

interface Size {
  width: number;
  height: number;
}

const GAP = 2; // pixels between a part and its label
const RINGS = [0, 0.5, 1]; // distances from its part that are tried for a label, in lines of text
const CORNERS = [[0.6, -1], [-0.6, -1], [0.6, 1], [-0.6, 1], [1, -0.7], [-1, -0.7], [1, 0.7], [-1, 0.7]] as const;
const DIRECTIONS = [[0, -1], [0, 1], [1, 0], [-1, 0], ...CORNERS] as const; // the best first

/** What a label covers, as areas: the first matters more. */
interface Cost {
  hides: number; // of labelled parts and other labels; all of it if it seems to belong to another part
  crosses: number; // of obstacles
}

interface Place {
  box: Box;
  cost: Cost;
}

interface Picture {
  anchors: Box[];
  obstacles: Box[];
  bounds: Box | null;
}

/**
 * The boxes of labels of these sizes: inside `bounds`, without overlap with any anchor, obstacle or other label.
 * `anchors` are the boxes of their parts. A label that fits nowhere near its part is where it covers least.
 * Only labels of parts outside `bounds` are left out.
 */
export function placeLabels(sizes: Size[], anchors: Box[], obstacles: Box[], bounds: Box | null): (Box | null)[] {
  const picture = { anchors, obstacles, bounds };
  let order = [...sizes.keys()].filter((own) => isSeen(anchors[own], bounds));
  let best = placeInOrder(order, sizes, picture);
  for (let crowded = crowdedIn(best); crowded.length > 0; crowded = crowdedIn(best)) {
    const first = crowded;
    order = [...first, ...order.filter((own) => !first.includes(own))]; // they choose first this time
    const places = placeInOrder(order, sizes, picture);
    if (!isLess(totalCost(places), totalCost(best))) break;
    best = places;
  }
  return sizes.map((_, own) => best.get(own)?.box ?? null);
}

function isSeen(anchor: Box | undefined, bounds: Box | null): boolean {
  return anchor !== undefined && (!bounds || overlaps(anchor, bounds));
}

/** The labels that cover something. */
function crowdedIn(places: Map<number, Place>): number[] {
  return [...places].filter(([, { cost }]) => !isFree(cost)).map(([own]) => own).sort((a, b) => a - b);
}

/** Each label in turn takes the best place that is left. */
function placeInOrder(order: number[], sizes: Size[], picture: Picture): Map<number, Place> {
  const taken = [...picture.anchors];
  const places = new Map<number, Place>();
  for (const own of order) {
    const place = bestPlace(own, sizes[own], taken, picture);
    if (!place) continue;
    places.set(own, place);
    taken.push(place.box);
  }
  return places;
}

function bestPlace(own: number, size: Size | undefined, taken: Box[], { anchors, obstacles, bounds }: Picture): Place | null {
  const anchor = anchors[own];
  if (!anchor || !size) return null;
  let best: Place | null = null;
  for (const candidate of candidates(anchor, size)) {
    const box = movedInto(candidate, bounds);
    const misleads = nearest(box, anchors) === own ? 0 : size.width * size.height;
    const cost = { hides: coveredArea(box, taken) + misleads, crosses: coveredArea(box, obstacles) };
    if (!best || isLess(cost, best.cost)) best = { box, cost };
    if (isFree(cost)) break;
  }
  return best;
}

function isFree({ hides, crosses }: Cost): boolean {
  return hides === 0 && crosses === 0;
}

function isLess(a: Cost, b: Cost): boolean {
  return a.hides < b.hides || (a.hides === b.hides && a.crosses < b.crosses);
}

function totalCost(places: Map<number, Place>): Cost {
  const costs = [...places.values()].map(({ cost }) => cost);
  return {
    hides: costs.reduce((sum, { hides }) => sum + hides, 0),
    crosses: costs.reduce((sum, { crosses }) => sum + crosses, 0),
  };
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

/** In pixels; a part that is thinner than a pixel counts as one. */
function coveredArea(box: Box, others: Box[]): number {
  const covered = ({ left, top, right, bottom }: Box): number =>
    (Math.min(box.right, right) - Math.max(box.left, left)) * (Math.min(box.bottom, bottom) - Math.max(box.top, top));
  return others.filter((other) => overlaps(box, other)).reduce((sum, other) => sum + Math.max(covered(other), 1), 0);
}

/** The box, moved as far as is needed to lie inside the bounds. */
function movedInto(box: Box, bounds: Box | null): Box {
  if (!bounds) return box;
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  const left = Math.max(Math.min(box.left, bounds.right - width), bounds.left);
  const top = Math.max(Math.min(box.top, bounds.bottom - height), bounds.top);
  return { left, top, right: left + width, bottom: top + height };
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
