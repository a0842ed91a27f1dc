/** The items of a question, which play in step; or a table of their features. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { useLongPress } from "../long-press";

import { keepFocus, PlayOverlay } from "../player/controls";
import type { Playback } from "../player/playback";
import { type Moment, Timeline } from "../player/timeline";
import { TrajectoryView } from "../player/trajectory-view";
import { isPlayable, type Trajectory } from "../trajectories";
import { FeatureTable, type FeatureTrajectory } from "./feature-table";
import type { Large } from "./large";
import { itemLabel } from "./layout";

interface ItemsProps {
  items: Trajectory[] | null; // null while they are loading
  count: number;
  busy: boolean; // an answer is being sent, or items are not there yet
  question: number;
  playback: Playback;
  large?: Large;
  moment?: Moment | null; // when they differ most
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

function ShownItems({ together, count, playback, large, moment, onClick, onLongPress, places, onProblem }: ShownProps): JSX.Element {
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
          item={i}
          large={count > 1 ? large : undefined}
          moment={moment}
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
  item: number;
  large: Large | undefined;
  moment: Moment | null | undefined;
  place: number | null;
  onClick: () => void;
  onLongPress: (() => void) | undefined;
  onProblem: (problem: string) => void;
}

function Item(props: ItemProps): JSX.Element {
  const { label, trajectory, playback, item, large, place, moment = null } = props;
  const name = label ? `Trajectory ${label}` : "The trajectory";
  const shown = large?.place ?? null;
  const classes = ["item", place === null ? "" : "item-placed", playback.turn.value === item ? "item-now" : ""];
  return (
    <figure class={classes.filter(Boolean).join(" ")} hidden={shown !== null && shown !== item}>
      <figcaption>
        {label}
        {place !== null && <span class="place">{place}</span>}
      </figcaption>
      <Clip {...props} name={name} />
      {isPlayable(trajectory) && <Timeline playback={playback} item={item} name={name} moment={moment} />}
    </figure>
  );
}

/** A press on a clip is an answer, but not on one that is large: who enlarged it wants to look. */
function Clip({ name, trajectory, together, playback, item, large, onClick, onLongPress, onProblem }: ItemProps & { name: string }): JSX.Element {
  const press = useLongPress(onClick, onLongPress);
  const isLarge = large?.place === item;
  return (
    <div class="clip-frame" {...(isLarge ? {} : press)}>
      {trajectory && <TrajectoryView trajectory={trajectory} together={together} playback={playback.item(item)} name={name} onProblem={onProblem} />}
      {!trajectory && <div class="screen" />}
      {large && isPlayable(trajectory) && <Enlarge name={name} large={isLarge} onClick={() => large.show(item)} />}
    </div>
  );
}

/** In the corner of a clip, since a press on the clip itself is an answer. */
function Enlarge({ name, large, onClick }: { name: string; large: boolean; onClick: () => void }): JSX.Element {
  const press = (event: Event): void => {
    event.stopPropagation();
    onClick();
  };
  const label = large ? "Show all clips" : `Show ${name.replace("Trajectory", "clip")} large`;
  return (
    <button
      type="button"
      class="enlarge"
      title={`${label} (M)`}
      aria-label={label}
      onClick={press}
      onPointerDown={(event) => event.stopPropagation()}
      onMouseDown={keepFocus}
    >
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={large ? "M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5" : "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"} fill="none" stroke="currentColor" stroke-width="2" />
      </svg>
    </button>
  );
}
