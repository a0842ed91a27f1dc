/** A question that was answered before: its trajectories play in step again, in a dialog. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { PastAnswer } from "../api";
import { FeatureTable, type FeatureTrajectory } from "../compare/feature-table";
import { gridStyle, itemLabel } from "../compare/layout";
import { choiceName } from "../compare/registry";
import { LoadingOrError, TrajectoryName } from "../components";
import { useTrajectories } from "../hooks";
import { Controls, PlayOverlay } from "../player/controls";
import { Playback } from "../player/playback";
import { Timeline } from "../player/timeline";
import { TrajectoryView } from "../player/trajectory-view";
import { frameSeconds, isPlayable, type Trajectories } from "../trajectories";

interface ReplayProps {
  answer: PastAnswer;
  trajectories: Trajectories;
  onClose: () => void;
}

/** A modal <dialog>: the browser keeps the focus inside and closes it on Esc. */
export function ReplayDialog({ answer, trajectories, onClose }: ReplayProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const playback = useMemo(() => new Playback(), []);
  const style = gridStyle(answer.items.length, trajectories.aspectOf(answer.items));
  return (
    <dialog class="replay" ref={dialog} aria-labelledby="replay-title" style={style} onClose={onClose}>
      <h2 id="replay-title">
        Question {answer.number}: you answered “{choiceName(answer.choice, answer.kind, answer.words)}”
      </h2>
      <ReplayedItems answer={answer} trajectories={trajectories} playback={playback} />
      <div class="replay-tools">
        {trajectories.display.kind !== "features" && <Controls playback={playback} />}
        <form method="dialog">
          <button class="button primary">Close</button>
        </form>
      </div>
    </dialog>
  );
}

interface ItemsProps extends Pick<ReplayProps, "answer" | "trajectories"> {
  playback: Playback;
}

function ReplayedItems({ answer, trajectories, playback }: ItemsProps): JSX.Element {
  const { items, problem, retry } = useTrajectories(trajectories, answer.items);
  useEffect(() => {
    if (items) playback.begin(Math.min(...items.map(frameSeconds)));
  }, [items, playback]);
  if (!items) {
    const loading = <LoadingOrError problem={problem} retry={retry} message="Loading the motions…" />;
    return trajectories.display.kind === "features" ? loading : <EmptyFrames answer={answer}>{loading}</EmptyFrames>;
  }
  const bare = items.filter((item): item is FeatureTrajectory => item.kind === "features");
  if (bare.length === items.length) return <ReplayedFeatures answer={answer} items={bare} />;
  const plays = items.some(isPlayable);
  return (
    <div class="replay-items">
      {items.map((trajectory, i) => (
        <figure key={i}>
          <figcaption>
            <ItemName answer={answer} position={i} />
          </figcaption>
          <div class="clip-frame">
            <TrajectoryView trajectory={trajectory} together={items} playback={playback} name={items.length > 1 ? `Trajectory ${itemLabel(i)}` : "The trajectory"} />
          </div>
          {plays && <Timeline playback={playback} />}
        </figure>
      ))}
      {plays && <PlayOverlay playback={playback} />}
    </div>
  );
}

/** The room that the motions will take, so that the buttons below do not move when they are there. */
function EmptyFrames({ answer, children }: { answer: PastAnswer; children: ComponentChildren }): JSX.Element {
  return (
    <div class="replay-items">
      {answer.items.map((_, i) => (
        <figure key={i}>
          <figcaption>
            <ItemName answer={answer} position={i} />
          </figcaption>
          <div class="clip-frame empty-frame" />
          <div class="timeline" />
        </figure>
      ))}
      <div class="over-frames">{children}</div>
    </div>
  );
}

function ReplayedFeatures({ answer, items }: { answer: PastAnswer; items: FeatureTrajectory[] }): JSX.Element {
  return (
    <div class="replay-features">
      <p class="replay-names">
        {items.map((_, i) => (
          <ItemName key={i} answer={answer} position={i} />
        ))}
      </p>
      <FeatureTable items={items} />
    </div>
  );
}

function ItemName({ answer, position }: { answer: PastAnswer; position: number }): JSX.Element {
  return (
    <span>
      {answer.items.length > 1 && <strong>{itemLabel(position)} </strong>}
      <TrajectoryName index={answer.items[position] ?? 0} id={answer.ids?.[position] ?? null} />
    </span>
  );
}
