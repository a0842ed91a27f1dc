/** A question: k trajectories that play in step, and the answers. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { Banner } from "../components";
import { useKeys, useTrajectories } from "../hooks";
import { Controls } from "../player/controls";
import { Playback } from "../player/playback";
import { frameSeconds, isPlayable, type Trajectories, type Trajectory } from "../trajectories";
import { type Action, confirmationText, type LastAction, questionText } from "./announcements";
import { answerOptions, Answers } from "./answers";
import { Items } from "./items";
import { gridStyle } from "./layout";
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

export function Compare({ state, question, trajectories, blocked, onAnswer, onUndo }: CompareProps): JSX.Element {
  const indices = question.items;
  const count = indices.length;
  const options = answerOptions(count, state.choices);
  const { items, problem, retry } = useTrajectories(trajectories, indices);
  const playback = useMemo(() => new Playback(), []);
  const since = useRestart(playback, items, question.id);
  const { waiting, report } = useWatching(playback, question.id, items, state.can_skip);
  const [last, setLast] = useState<LastAction>({ action: null, count: 0 });
  const [refused, setRefused] = useState(0);
  usePrefetch(trajectories, state);

  const offered = (kind: AnswerKind): boolean =>
    kind === "skip" ? state.can_skip : options.some(({ choice }) => choice === kind);
  const remember = (action: Action): void => setLast((before) => ({ action, count: before.count + 1 }));
  const send = (kind: AnswerKind): void => {
    remember(kind);
    onAnswer(kind, secondsSince(since.current));
  };
  const answer = (kind: AnswerKind): void => {
    if (blocked || !items || !offered(kind)) return;
    if (kind === "skip" || waiting === null) send(kind);
    else setRefused((times) => times + 1);
  };
  const prefer = (position: number): void => {
    const option = options.find(({ item }) => item === position);
    if (option) answer(option.choice);
  };
  const undo = (): void => {
    if (blocked || state.undoable === null) return;
    remember("undo");
    onUndo();
  };
  const skipping = { onSkipThrough: () => playback.toEnd(), onSkip: () => answer("skip") };
  const announcement = useMemo(() => `${confirmationText(last.action)} ${questionText(state, count)}`, [question.id]);
  useKeys({ ...Object.fromEntries(options.map(({ choice }) => [choice, () => answer(choice)])), skip: () => answer("skip"), undo });
  return (
    <div class="compare" style={{ "--aspect": trajectories.aspectOf(indices), ...gridStyle(count) }}>
      <Announcement text={announcement} />
      {problem && <Banner message={problem} retry={retry} />}
      <Items items={items} count={count} question={question.id} playback={playback} onClick={prefer} onProblem={report} />
      <div class="answer-bar">
        <StatusLine last={last} waiting={items && waiting} count={count} refused={refused} {...skipping} />
        {options.length > 0 && <Answers options={options} blocked={blocked || waiting !== null} last={last} onAnswer={answer} />}
      </div>
      <Tools state={state} options={options} blocked={blocked} onSkip={skipping.onSkip} onUndo={undo}>
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

const DAY = 86_400; // the server takes no longer response times

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
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
