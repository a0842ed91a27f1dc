/** The items of a question, which play in step; or a table of their features. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { useLongPress } from "../long-press";

import { PlayOverlay, Timeline } from "../player/controls";
import type { Playback } from "../player/playback";
import { TrajectoryView } from "../player/trajectory-view";
import { isPlayable, type Trajectory } from "../trajectories";
import { FeatureTable, type FeatureTrajectory } from "./feature-table";
import { itemLabel } from "./layout";

interface ItemsProps {
  items: Trajectory[] | null; // null while they are loading
  count: number;
  busy: boolean; // an answer is being sent, or items are not there yet
  question: number;
  playback: Playback;
  onClick: (position: number) => void;
  onLongPress?: ((position: number) => void) | undefined; // held for half a second
  places?: readonly (number | null)[]; // of a ranking in the making
  onProblem: (position: number, problem: string) => void;
}

/** While the next question is loading the last one stays, dimmed: empty boxes would flicker. */
export function Items({ items, count, busy, question, ...rest }: ItemsProps): JSX.Element {
  const last = useRef<Trajectory[]>([]);
  if (items) last.current = items;
  const fresh = question % 2 === 0 ? "fresh-even" : "fresh-odd"; // two animations, so that each question starts one
  return (
    <div class="items-frame" aria-busy={busy}>
      <div class={items ? fresh : "items-loading"}>
        <ShownItems together={last.current} count={count} {...rest} />
      </div>
      {!items && (
        <p class="items-wait" role="status">
          The clips are being prepared…
        </p>
      )}
    </div>
  );
}

type ShownProps = Omit<ItemsProps, "items" | "busy" | "question"> & { together: Trajectory[] };

function ShownItems({ together, count, playback, onClick, onLongPress, places, onProblem }: ShownProps): JSX.Element {
  const bare = together.filter((item): item is FeatureTrajectory => item.kind === "features");
  if (bare.length > 0 && bare.length === together.length) return <FeatureTable items={bare} />;
  return (
    <div class="items">
      {Array.from({ length: count }, (_, i) => (
        <Item
          key={i}
          label={count === 1 ? "" : itemLabel(i)}
          trajectory={together[i]}
          together={together}
          playback={playback}
          place={places?.[i] ?? null}
          onClick={() => onClick(i)}
          onLongPress={onLongPress && (() => onLongPress(i))}
          onProblem={(problem) => onProblem(i, problem)}
        />
      ))}
      {together.some(isPlayable) && <PlayOverlay playback={playback} />}
    </div>
  );
}

interface ItemProps {
  label: string;
  trajectory: Trajectory | undefined;
  together: Trajectory[];
  playback: Playback;
  place: number | null;
  onClick: () => void;
  onLongPress: (() => void) | undefined;
  onProblem: (problem: string) => void;
}

function Item({ label, trajectory, together, playback, place, onClick, onLongPress, onProblem }: ItemProps): JSX.Element {
  const view = { together, playback, onProblem, name: label ? `Trajectory ${label}` : "The trajectory" };
  const press = useLongPress(onClick, onLongPress);
  return (
    <figure class={place === null ? "item" : "item item-placed"}>
      <figcaption>
        {label}
        {place !== null && <span class="place">{place}</span>}
      </figcaption>
      <div class="clip-frame" {...press}>
        {trajectory && <TrajectoryView trajectory={trajectory} {...view} />}
        {!trajectory && <div class="screen" />}
      </div>
      {isPlayable(trajectory) && <Timeline playback={playback} />}
    </figure>
  );
}
