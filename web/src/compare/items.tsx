/** The items of a question, which play in step. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { PlayOverlay, Timeline } from "../player/controls";
import type { Playback } from "../player/playback";
import { TrajectoryView } from "../player/trajectory-view";
import { isPlayable, type Trajectory } from "../trajectories";
import { itemLabel } from "./layout";

interface ItemsProps {
  items: Trajectory[] | null; // null while they are loading
  count: number;
  question: number;
  playback: Playback;
  onClick: (position: number) => void;
}

/** While the next question is loading the last one stays, dimmed: empty boxes would flicker. */
export function Items({ items, count, question, playback, onClick }: ItemsProps): JSX.Element {
  const last = useRef<Trajectory[]>([]);
  if (items) last.current = items;
  const group = last.current;
  const fresh = question % 2 === 0 ? "fresh-even" : "fresh-odd"; // two animations, so that each question starts one
  return (
    <div class={`items ${items ? fresh : "items-loading"}`}>
      {Array.from({ length: count }, (_, i) => (
        <Item key={i} label={itemLabel(i)} trajectory={group[i]} group={group} playback={playback} onClick={() => onClick(i)} />
      ))}
      {group.some(isPlayable) && <PlayOverlay playback={playback} />}
    </div>
  );
}

interface ItemProps {
  label: string;
  trajectory: Trajectory | undefined;
  group: Trajectory[];
  playback: Playback;
  onClick: () => void;
}

function Item({ label, trajectory, group, playback, onClick }: ItemProps): JSX.Element {
  return (
    <figure class="item">
      <figcaption>{label}</figcaption>
      <div class="clip-frame" onClick={onClick}>
        {trajectory && <TrajectoryView trajectory={trajectory} group={group} playback={playback} name={`Trajectory ${label}`} />}
        {!trajectory && <div class="screen" />}
      </div>
      {isPlayable(trajectory) && <Timeline playback={playback} />}
    </figure>
  );
}
