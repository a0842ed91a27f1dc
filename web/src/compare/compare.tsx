/** Two trajectories, and the question which is better. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Choice, Question, SessionState } from "../contract";
import { useTrajectories, useKeys } from "../hooks";
import { Banner } from "../components";
import { Playback } from "../player/playback";
import { TrajectoryView } from "../player/trajectory-view";
import { type Trajectory, frameSeconds, isPlayable, type Trajectories } from "../trajectories";
import { Controls, keepFocus, PlayOverlay, Timeline } from "../player/controls";
import { Help } from "./help";
import { confirmationText, type Action, questionText } from "./announcements";

interface CompareProps {
  state: SessionState;
  question: Question;
  trajectories: Trajectories;
  blocked: boolean;
  onChoice: (choice: Choice, seconds: number) => void;
  onUndo: () => void;
}

export function Compare({ state, question, trajectories, blocked, onChoice, onUndo }: CompareProps): JSX.Element {
  const { items, problem, retry } = useTrajectories(trajectories, [question.left, question.right]);
  const playback = useMemo(() => new Playback(), []);
  const since = useRestart(playback, items, question.id);
  const [last, setLast] = useState<LastAction>({ action: null, count: 0 });
  const [help, setHelp] = useState(false);
  usePrefetch(trajectories, state);

  const offered = (choice: Choice): boolean => (choice === "skip" ? state.can_skip : state.choices.includes(choice));
  const markDone = (action: Action): void => setLast(({ count }) => ({ action, count: count + 1 }));
  const choose = (choice: Choice): void => {
    if (blocked || !items || !offered(choice)) return;
    markDone(choice);
    onChoice(choice, secondsSince(since.current));
  };
  const undo = (): void => {
    if (blocked || !state.can_undo) return;
    markDone("undo");
    onUndo();
  };
  const announced = useMemo(() => `${confirmationText(last.action)} ${questionText(state)}`, [question.id]);
  const missing = [offered("equal") ? "" : "equal", state.can_skip ? "" : "skip", state.can_undo ? "" : "undo"];
  useKeys({
    left: () => choose("left"),
    right: () => choose("right"),
    equal: () => choose("equal"),
    skip: () => choose("skip"),
    undo,
    help: () => setHelp(true),
  });
  const answering = { blocked: blocked || !items, last, choose, offered };
  return (
    <div class="compare" style={{ "--aspect": trajectories.aspect }}>
      <Announcement text={announced} />
      {problem && <Banner message={problem} retry={retry} />}
      <Pair items={items} question={question} playback={playback} {...answering} />
      <Answers {...answering} />
      <Confirmation {...last} />
      <div class="tools">
        {isPlayable(items?.[0]) && <Controls playback={playback} />}
        <div class="asides">
          {state.can_skip && <SecondaryButton label="Skip" keyName="S" blocked={blocked} onClick={() => choose("skip")} />}
          <SecondaryButton label="Undo" keyName="Z" blocked={blocked || !state.can_undo} onClick={undo} />
          <SecondaryButton label="Keys" keyName="?" blocked={false} onClick={() => setHelp(true)} />
        </div>
      </div>
      {help && <Help without={missing} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Start a new pair from its beginning; since when it is seen, in milliseconds. */
function useRestart(playback: Playback, items: Trajectory[] | null, question: number): { current: number } {
  const since = useRef(performance.now());
  useEffect(() => {
    if (!items?.[0]) return;
    playback.begin(frameSeconds(items[0]));
    since.current = performance.now();
  }, [playback, items, question]);
  return since;
}

const DAY = 86_400; // nobody looks longer, and the server takes no more

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
}

/** Load the next pair while this one is looked at. */
function usePrefetch(trajectories: Trajectories, state: SessionState): void {
  useEffect(() => {
    let over = false;
    if (state.stage === "compare") void trajectories.prefetchNext(() => over);
    return () => void (over = true);
  }, [trajectories, state]);
}

/** For screen readers, which see neither the new pair nor the flash of the button. */
function Announcement({ text }: { text: string }): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}

/** The last thing done; counted, so that the same choice twice is confirmed twice. */
interface LastAction {
  action: Action | null;
  count: number;
}

/** Seen for a moment; screen readers have heard it already. */
function Confirmation({ action, count }: LastAction): JSX.Element {
  return (
    <p class="confirmation" aria-hidden="true">
      {action && <span key={count}>{confirmationText(action)}</span>}
    </p>
  );
}

interface Answering {
  blocked: boolean;
  last: LastAction;
  choose: (choice: Choice) => void;
  offered: (choice: Choice) => boolean;
}

interface PairProps extends Answering {
  items: Trajectory[] | null;
  question: Question;
  playback: Playback;
}

/** While the next pair is on its way the last one stays, dimmed: an empty frame would flicker. */
function Pair({ items, question, playback, choose }: PairProps): JSX.Element {
  const last = useRef<Trajectory[]>([]);
  if (items) last.current = items;
  const [left, right] = last.current;
  const fresh = question.id % 2 === 0 ? "fresh-even" : "fresh-odd"; // two names, so that each pair fades in anew
  return (
    <div class={`pair ${items ? fresh : "pair-waiting"}`}>
      <Side name="A" trajectory={left} group={last.current} playback={playback} onClick={() => choose("left")} />
      <Side name="B" trajectory={right} group={last.current} playback={playback} onClick={() => choose("right")} />
      {isPlayable(left) && <PlayOverlay playback={playback} />}
    </div>
  );
}

interface SideProps {
  name: "A" | "B";
  trajectory: Trajectory | undefined;
  group: Trajectory[];
  playback: Playback;
  onClick: () => void;
}

function Side({ name, trajectory, group, playback, onClick }: SideProps): JSX.Element {
  return (
    <figure class="side">
      <figcaption>{name}</figcaption>
      <div class="clip-frame" onClick={onClick}>
        {trajectory && <TrajectoryView trajectory={trajectory} group={group} playback={playback} name={`Trajectory ${name}`} />}
        {!trajectory && <div class="screen" />}
      </div>
      {isPlayable(trajectory) && <Timeline playback={playback} />}
    </figure>
  );
}

function Answers(answering: Answering): JSX.Element {
  return (
    <div class="answers" role="group" aria-label="Which is better?">
      <Answer choice="left" title="A" text="is better" keyNames={["←", "F"]} {...answering} />
      {answering.offered("equal") && <Answer choice="equal" title="About equal" text="" keyNames={["↓", "E"]} {...answering} />}
      <Answer choice="right" title="B" text="is better" keyNames={["→", "J"]} {...answering} />
    </div>
  );
}

interface AnswerProps extends Answering {
  choice: Choice;
  title: string;
  text: string;
  keyNames: string[];
}

/** Not the `disabled` attribute: it would throw the keyboard's focus out at every answer. */
function Answer({ choice, title, text, keyNames, blocked, last, choose }: AnswerProps): JSX.Element {
  const flash = last.action === choice ? `chosen-${last.count % 2 === 0 ? "even" : "odd"}` : "";
  return (
    <button
      type="button"
      class={`answer answer-${choice} ${flash}`}
      aria-disabled={blocked}
      onClick={() => choose(choice)}
      onMouseDown={keepFocus}
    >
      <span>
        <strong>{title}</strong> {text}
      </span>
      <span class="hint" aria-hidden="true">
        {keyNames.map((name) => (
          <kbd key={name}>{name}</kbd>
        ))}
      </span>
    </button>
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
    <button type="button" class="aside" aria-disabled={blocked} onClick={onClick} onMouseDown={keepFocus}>
      {label}{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}
