/** A question: k trajectories that play in step, and the answers. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { Banner } from "../components";
import { useKeys, useTrajectories } from "../hooks";
import { Controls, keepFocus } from "../player/controls";
import { Playback } from "../player/playback";
import { frameSeconds, isPlayable, type Trajectories, type Trajectory } from "../trajectories";
import { type Action, confirmationText, type LastAction, questionText } from "./announcements";
import { answerOptions, Answers, missingChoices } from "./answers";
import { Help } from "./help";
import { Items } from "./items";
import { gridStyle } from "./layout";

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
  const [last, setLast] = useState<LastAction>({ action: null, count: 0 });
  const [help, setHelp] = useState(false);
  usePrefetch(trajectories, state);

  const offered = (kind: AnswerKind): boolean =>
    kind === "skip" ? state.can_skip : options.some(({ choice }) => choice === kind);
  const remember = (action: Action): void => setLast((before) => ({ action, count: before.count + 1 }));
  const answer = (kind: AnswerKind): void => {
    if (blocked || !items || !offered(kind)) return;
    remember(kind);
    onAnswer(kind, secondsSince(since.current));
  };
  const prefer = (position: number): void => {
    const option = options.find(({ item }) => item === position);
    if (option) answer(option.choice);
  };
  const undo = (): void => {
    if (blocked || !state.can_undo) return;
    remember("undo");
    onUndo();
  };
  const announcement = useMemo(() => `${confirmationText(last.action)} ${questionText(state, count)}`, [question.id]);
  const missing = [...missingChoices(options), state.can_skip ? "" : "skip", state.can_undo ? "" : "undo"];
  useKeys({
    ...Object.fromEntries(options.map(({ choice }) => [choice, () => answer(choice)])),
    skip: () => answer("skip"),
    undo,
    help: () => setHelp(true),
  });
  return (
    <div class="compare" style={{ "--aspect": trajectories.aspect, ...gridStyle(count) }}>
      <Announcement text={announcement} />
      {problem && <Banner message={problem} retry={retry} />}
      <Items items={items} count={count} question={question.id} playback={playback} onClick={prefer} />
      {options.length > 0 && <Answers options={options} blocked={blocked || !items} last={last} onAnswer={answer} />}
      <Confirmation {...last} />
      <div class="tools">
        {items?.some(isPlayable) && <Controls playback={playback} />}
        <div class="secondary">
          {state.can_skip && <SecondaryButton label="Skip" keyName="S" blocked={blocked} onClick={() => answer("skip")} />}
          <SecondaryButton label="Undo" keyName="Z" blocked={blocked || !state.can_undo} onClick={undo} />
          <SecondaryButton label="Keys" keyName="?" blocked={false} onClick={() => setHelp(true)} />
        </div>
      </div>
      {help && <Help without={missing} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Play each new question from its start. Returns when it was shown, in milliseconds. */
function useRestart(playback: Playback, items: Trajectory[] | null, question: number): { current: number } {
  const since = useRef(performance.now());
  useEffect(() => {
    if (!items) return;
    playback.begin(Math.min(...items.map(frameSeconds)));
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

/** Visible for a moment; screen readers have the announcement. */
function Confirmation({ action, count }: LastAction): JSX.Element {
  return (
    <p class="confirmation" aria-hidden="true">
      {action && <span key={count}>{confirmationText(action)}</span>}
    </p>
  );
}

interface SecondaryButtonProps {
  label: string;
  keyName: string;
  blocked: boolean;
  onClick: () => void;
}

function SecondaryButton({ label, keyName, blocked, onClick }: SecondaryButtonProps): JSX.Element {
  return (
    <button type="button" class="secondary-button" aria-disabled={blocked} onClick={onClick} onMouseDown={keepFocus}>
      {label}{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}
