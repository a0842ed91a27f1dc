/** One trajectory in a dialog: it plays, with its name and its features. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { LoadingOrError, TrajectoryName } from "../components";
import { formatFeature } from "../format";
import { useLoad } from "../hooks";
import { Player } from "../player/player";
import type { Trajectories } from "../trajectories";

interface TrajectoryDialogProps {
  index: number;
  id: string | null;
  trajectories: Trajectories;
  children?: ComponentChildren; // what else is known of it, below its features
  onClose: () => void;
}

/** A modal <dialog>: the browser keeps the focus inside and closes it on Esc. */
export function TrajectoryDialog({ index, id, trajectories, children, onClose }: TrajectoryDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const name = `Trajectory ${id ?? index}`;
  return (
    <dialog class="trajectory-dialog" ref={dialog} aria-labelledby="trajectory-title" onClose={onClose}>
      <h2 id="trajectory-title">
        <TrajectoryName index={index} id={id} />
      </h2>
      <div class="trajectory-columns" style={{ "--aspect": trajectories.aspectOf([index]) }}>
        <Player key={index} trajectories={trajectories} index={index} name={name} />
        <div class="trajectory-facts">
          {trajectories.display.kind !== "features" && <Features index={index} trajectories={trajectories} />}
          {children}
        </div>
      </div>
      <form method="dialog">
        <button class="button primary">Close</button>
      </form>
    </dialog>
  );
}

/** In the order of the pool; where nothing moves, the player shows them as bars. */
function Features({ index, trajectories }: Pick<TrajectoryDialogProps, "index" | "trajectories">): JSX.Element {
  const { value, problem, retry } = useLoad(async () => ({ index, ...(await trajectories.details(index)) }), index);
  if (value?.index !== index) return <LoadingOrError problem={problem} retry={retry} message="Loading the features…" />;
  return (
    <dl class="trajectory-features" aria-label="Features">
      {trajectories.display.features.map((feature) => (
        <div key={feature.name}>
          <dt>{feature.name}</dt>
          <dd>{formatFeature(feature, value.features[feature.name])}</dd>
        </div>
      ))}
    </dl>
  );
}
