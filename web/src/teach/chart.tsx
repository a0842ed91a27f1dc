/** A chart: drawn when its code is loaded, and again when its width changes. Its marks may play what they stand for. */

import type { JSX } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { attach } from "./attach";
import { focusedMark, listenForPlays, makeFocusable } from "./playable";
import { PlayContext } from "./plays";

type Charts = typeof import("./charts");

interface ChartProps {
  name: string;
  draw: (charts: Charts, width: number) => Element;
  plays?: boolean; // whether its marks play something
}

export function Chart({ name, draw, plays = false }: ChartProps): JSX.Element {
  const play = useContext(PlayContext);
  const onPlay = plays ? play : null;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const [charts, setCharts] = useState<Charts | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => void import("./charts").then(setCharts, () => setFailed(true)), []);
  useEffect(() => {
    if (!charts || !box.current) return undefined;
    return redrawOnResize(box.current, (width) => latest.current(charts, width));
  }, [charts]);
  useEffect(() => {
    if (charts && box.current?.clientWidth) put(box.current, draw(charts, box.current.clientWidth));
  });
  useEffect(() => (onPlay && box.current ? listenForPlays(box.current, () => onPlay) : undefined), [onPlay]);
  return (
    <div class="chart" ref={box} role={plays ? "group" : "img"} aria-label={name}>
      {failed && "The charts could not be loaded. Please reload the page."}
    </div>
  );
}

/** The mark that had the focus has it again. */
function put(box: HTMLElement, chart: Element): void {
  const focused = focusedMark(box);
  attach(box, chart);
  makeFocusable(box, focused);
}

function redrawOnResize(box: HTMLElement, draw: (width: number) => Element): () => void {
  let drawn = box.clientWidth;
  const observer = new ResizeObserver(() => {
    if (box.clientWidth === drawn || box.clientWidth === 0) return;
    drawn = box.clientWidth;
    put(box, draw(drawn));
  });
  observer.observe(box);
  return () => observer.disconnect();
}
