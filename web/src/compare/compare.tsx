/** A question: k trajectories that play in step, and the answers. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { Banner } from "../components";
import { useTrajectories } from "../hooks";
import { Controls } from "../player/controls";
import { Playback } from "../player/playback";
import { frameSeconds, isPlayable, type Trajectories, type Trajectory } from "../trajectories";
import { confirmationText, questionText } from "./announcements";
import { useAnswering } from "./answering";
import { Answers } from "./answers";
import { Items } from "./items";
import { formOf } from "./kinds";
import { gridStyle } from "./layout";
import { placesOf } from "./order";
import { Ranking, useRanking } from "./ranking";
import { StatusLine } from "./status-line";
import { Tools } from "./tools";
import { useWatching } from "./watching";

interface CompareProps {
  state: SessionState;
  question: ShownQuestion;
  trajectories: Trajectories;
  blocked: boolean;
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onUndo: () => void;
}

export function Compare(props: CompareProps): JSX.Element {
  const { state, question, trajectories, blocked } = props;
  const { kind, items: indices } = question;
  const count = indices.length;
  const ranks = formOf(kind) === "rank";
  const { items, problem, retry } = useTrajectories(trajectories, indices);
  const playback = useMemo(() => new Playback(), []);
  const since = useRestart(playback, items, question.id);
  const { waiting, report } = useWatching(playback, question.id, items, state.can_skip);
  const ranking = useRanking(question.id, count);
  const answering = useAnswering({ ...props, ready: items !== null, waiting: waiting !== null, since, ranking });
  const { last, options, answer } = answering;
  usePrefetch(trajectories, state);
  const skipping = { onSkipThrough: () => playback.toEnd(), onSkip: () => answer("skip") };
  const announcement = useMemo(
    () => `${confirmationText(last.action, last.kind)} ${questionText(state, kind, count)}`,
    [question.id],
  );
  const stopped = blocked || waiting !== null;
  return (
    <div class="compare" style={gridStyle(count, trajectories.aspectOf(indices))}>
      <Announcement text={announcement} />
      {problem && <Banner message={problem} retry={retry} />}
      <Items
        items={items}
        count={count}
        question={question.id}
        playback={playback}
        onClick={answering.prefer}
        onLongPress={formOf(kind) === "strength" ? answering.preferStrongly : undefined}
        places={ranks ? placesOf(ranking.order, count) : []}
        onProblem={report}
      />
      <div class="answer-bar">
        <StatusLine last={last} waiting={items && waiting} count={count} refused={answering.refused} {...skipping} />
        {ranks && <Ranking ranking={ranking} count={count} ties={state.ties} blocked={stopped} onSubmit={answering.submit} />}
        {!ranks && <Answers options={options} blocked={stopped} last={last} onAnswer={answer} />}
      </div>
      <Tools state={state} commands={answering.commands} blocked={blocked} onSkip={skipping.onSkip} onUndo={answering.undo}>
        {items?.some(isPlayable) && <Controls playback={playback} />}
      </Tools>
    </div>
  );
}

/**
 * Play each new question from its start. Returns when it was shown, in milliseconds. A layout effect, as the listening to
 * keys is: an effect after it would undo a key that the person pressed at once.
 */
function useRestart(playback: Playback, items: Trajectory[] | null, question: number): { current: number } {
  const since = useRef(performance.now());
  useLayoutEffect(() => {
    if (!items) return;
    playback.begin(Math.min(...items.map(frameSeconds)), question);
    since.current = performance.now();
  }, [playback, items, question]);
  return since;
}

/** Load the next question's trajectories while the person looks at this one's. */
function usePrefetch(trajectories: Trajectories, state: SessionState): void {
  useEffect(() => {
    let cancelled = false;
    if (state.stage === "compare") void trajectories.prefetchNext(() => cancelled);
    return () => void (cancelled = true);
  }, [trajectories, state]);
}

/** For screen readers, which show neither the new question nor the flash of the button. */
function Announcement({ text }: { text: string }): JSX.Element {
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {text}
    </p>
  );
}
