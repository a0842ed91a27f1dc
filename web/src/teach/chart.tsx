/** A chart: drawn when its code is loaded, and again when its width changes. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { attach } from "./attach";

type Charts = typeof import("./charts");

interface ChartProps {
  name: string;
  draw: (charts: Charts, width: number) => Element;
}

export function Chart({ name, draw }: ChartProps): JSX.Element {
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
    if (charts && box.current?.clientWidth) attach(box.current, draw(charts, box.current.clientWidth));
  });
  return (
    <div class="chart" ref={box} role="img" aria-label={name}>
      {failed && "The charts could not be loaded. Please reload the page."}
    </div>
  );
}

function redrawOnResize(box: HTMLElement, draw: (width: number) => Element): () => void {
  let drawn = box.clientWidth;
  const observer = new ResizeObserver(() => {
    if (box.clientWidth === drawn || box.clientWidth === 0) return;
    drawn = box.clientWidth;
    attach(box, draw(drawn));
  });
  observer.observe(box);
  return () => observer.disconnect();
}
