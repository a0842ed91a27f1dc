/** What the marks of charts play: a trajectory or a question, in a dialog above everything. */

import { type ComponentChildren, createContext, type JSX } from "preact";
import { useState } from "preact/hooks";

import type { PastAnswer } from "../api";
import type { Trajectories } from "../trajectories";
import type { OnPlay, Play } from "./playable";
import { ReplayDialog } from "./replay";
import type { Sampled } from "./sampled";
import { TrajectoryDialog } from "./trajectory-dialog";

export const PlayContext = createContext<OnPlay>(() => undefined);

interface PlaysProps {
  history: PastAnswer[];
  sampled: Sampled;
  trajectories: Trajectories;
  children: ComponentChildren;
}

/** The children are not drawn again when a dialog opens, so that the mark keeps the focus. */
export function Plays({ history, sampled, trajectories, children }: PlaysProps): JSX.Element {
  const [playing, setPlaying] = useState<Play | null>(null);
  const onClose = (): void => setPlaying(null);
  return (
    <PlayContext.Provider value={setPlaying}>
      {children}
      {playing && "trajectory" in playing && <PlayedTrajectory index={playing.trajectory} sampled={sampled} trajectories={trajectories} onClose={onClose} />}
      {playing && "question" in playing && <PlayedQuestion question={playing.question} history={history} trajectories={trajectories} onClose={onClose} />}
    </PlayContext.Provider>
  );
}

interface DialogProps {
  trajectories: Trajectories;
  onClose: () => void;
}

function PlayedTrajectory({ index, sampled, ...props }: DialogProps & { index: number; sampled: Sampled }): JSX.Element {
  return (
    <TrajectoryDialog index={index} id={sampled.idOf(index)} {...props}>
      <p class="soft">{sampled.rewardOf(index)}</p>
    </TrajectoryDialog>
  );
}

/** Of a question that is not in the history yet nothing is shown. */
function PlayedQuestion({ question, history, ...props }: DialogProps & { question: number; history: PastAnswer[] }): JSX.Element | null {
  const answer = history.find((one) => one.question === question);
  return answer ? <ReplayDialog answer={answer} {...props} /> : null;
}
