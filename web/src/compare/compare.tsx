/** A question: k trajectories that play in step, and the answers. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { Banner } from "../components";
import { useTrajectories } from "../hooks";
import { Controls } from "../player/controls";
import { Playback } from "../player/playback";
import { viewOptions } from "../player/view-options";
import type { Signals } from "../signals";
import { frameSeconds, isPlayable, type Trajectories, type Trajectory } from "../trajectories";
import { changeText, confirmationText, questionText, TWICE } from "./announcements";
import { useAnswering } from "./answering";
import { Items } from "./items";
import { useLarge } from "./large";
import { gridStyle } from "./layout";
import { useMoment } from "./moment";
import { usePointer } from "./pointer";
import { Reasons } from "./reasons";
import { formOf, kindOf } from "./registry";
import { SignalPanel } from "./signal-charts";
import { StatusLine } from "./status-line";
import { Tools } from "./tools";
import { Values } from "./values-panel";
import type { ViewProps } from "./view-menu";
import { useWatching } from "./watching";

interface CompareProps {
  state: SessionState;
  question: ShownQuestion;
  trajectories: Trajectories;
  blocked: boolean;
  signals?: Signals | undefined; // of a teacher's page
  tools?: JSX.Element | undefined; // and its own tools
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onUndo: () => void;
  onReason?: (feature: string) => void; // name why the last answer was given, or take it back
}

export function Compare(props: CompareProps): JSX.Element {
  const { state, question, trajectories, blocked } = props;
  const { kind, items: indices } = question;
  const count = indices.length;
  const { items, problem, retry } = useTrajectories(trajectories, indices);
  const playback = useMemo(() => new Playback(), []);
  useRestart(playback, items, question.id);
  const { waiting, report } = useWatching(playback, question.id, items, state);
  const answering = useAnswering({ ...props, ready: items !== null, waiting, since: playback.since });
  const { last, answer, refuse } = answering;
  const { pointed, handlers } = usePointer(question.id, () => refuse(TWICE));
  usePrefetch(trajectories, state);
  const skipping = { onSkipThrough: () => playback.toEnd(), onSkip: () => answer("skip") };
  const changed = useKindChange(question);
  const announcement = useMemo(() => `${confirmationText(last)} ${questionText(state, kind, count, changed)}`, [question.id]);
  const { Input, keys } = kindOf(kind);
  const signals = useSignals(props);
  const view = useView(props, playback, items);
  const { large, moment } = view;
  const { choices, ties, words } = state;
  const asked = { count, choices, ties, words };
  const inputProps = { ...asked, question: question.id, blocked: blocked || waiting !== null, last, answer, refuse };
  const grid = gridStyle(large.place === null ? count : 1, trajectories.aspectOf(indices));
  const classes = ["compare", large.place === null ? "" : "compare-large", pointed ? "pointed" : "", state.kinds.length > 1 ? "compare-mixed" : ""];
  return (
    <div class={classes.filter(Boolean).join(" ")} style={grid} {...handlers}>
      <Announcement text={announcement} />
      {problem && <Banner message={problem} retry={retry} />}
      <Input key={formOf(kind)} {...inputProps} whileOpen={answering.whileOpen}>
        {({ view: answers, ...clicks }) => (
          <>
            <Items
              items={items}
              count={count}
              busy={blocked || waiting?.reason === "loading"}
              question={question.id}
              playback={playback}
              large={large}
              moment={moment}
              onProblem={report}
              {...clicks}
            />
            {signals?.shown.value && <SignalPanel signals={signals} indices={indices} playback={playback} />}
            <Values signals={view.signals} indices={indices} />
            <div class="answer-bar">
              <StatusLine last={last} change={changed ? changeText(kind) : ""} waiting={waiting} count={count} refusal={answering.refusal} {...skipping}>
                {state.reasons && <Reasons offered={state.reasons} confirmed={last.action !== null && last.action !== "skip"} onReason={props.onReason} />}
              </StatusLine>
              {answers}
              <Tools state={state} keys={keys(asked)} blocked={blocked} signals={signals} view={view} more={props.tools} onSkip={skipping.onSkip} onUndo={answering.undo}>
                {items?.some(isPlayable) && <Controls playback={playback} />}
              </Tools>
            </div>
          </>
        )}
      </Input>
    </div>
  );
}

/** The signals, if the question compares two trajectories that have some. */
function useSignals(props: CompareProps): Signals | null {
  const signals = pairOf(props);
  const [first] = props.question.items;
  useEffect(() => {
    if (signals && first !== undefined) void signals.probe(first);
  }, [signals, first]);
  return signals?.available.value ? signals : null;
}

/** A teacher's signals and values, if the question compares two trajectories. */
function pairOf({ signals, question }: CompareProps): Signals | null {
  return signals && question.items.length === 2 ? signals : null;
}

/** How the clips are shown, which a menu and keys change. */
function useView(props: CompareProps, playback: Playback, items: Trajectory[] | null): ViewProps {
  const { question, trajectories } = props;
  const count = question.items.length;
  const signals = pairOf(props);
  const large = useLarge(question.id, count);
  const moment = useMoment(signals, question.items, items);
  usePlaying(playback, count);
  return { count, large, signals, moment, cameras: trajectories.cameras, onSeek: goTo(playback) };
}

/** Play as this person wants clips to be played. */
function usePlaying(playback: Playback, count: number): void {
  const { inTurn, loop } = viewOptions();
  useLayoutEffect(() => playback.setInTurn(inTurn.value && count > 1), [playback, inTurn.value, count]);
  useLayoutEffect(() => playback.setLoop(loop.value), [playback, loop.value]);
}

/** Go to a moment, and stay there. */
function goTo(playback: Playback): (time: number) => void {
  return (time) => {
    playback.hold();
    playback.seek(time);
  };
}

/** Whether this question is of another kind than the one before it; not for the first one. */
function useKindChange({ id, kind }: ShownQuestion): boolean {
  const seen = useRef({ id, kind, changed: false });
  if (seen.current.id !== id) seen.current = { id, kind, changed: seen.current.kind !== kind };
  return seen.current.changed;
}

/**
 * Play each new question from its start. A layout effect, as the listening to keys is: an effect after it would undo a
 * key that the person pressed at once.
 */
function useRestart(playback: Playback, items: Trajectory[] | null, question: number): void {
  useLayoutEffect(() => {
    if (items) playback.begin(Math.min(...items.map(frameSeconds)), question);
  }, [playback, items, question]);
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
