/** Two trajectories, and the question which is better. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Choice, Question, Sitting } from "../contract";
import { useActs, useKeys } from "../hooks";
import { Banner } from "../parts";
import { Playback } from "../playing/playback";
import { Screen } from "../playing/screen";
import { type Act, frameOf, plays, type Theatre } from "../theatre";
import { Controls, keepFocus, PlayOverlay, Timeline } from "./controls";
import { Help } from "./help";
import { chosenWords, type Deed, pairWords } from "./words";

interface CompareProps {
  sitting: Sitting;
  question: Question;
  theatre: Theatre;
  blocked: boolean;
  onChoice: (choice: Choice, seconds: number) => void;
  onUndo: () => void;
}

export function Compare({ sitting, question, theatre, blocked, onChoice, onUndo }: CompareProps): JSX.Element {
  const { acts, trouble, again } = useActs(theatre, [question.left, question.right]);
  const playback = useMemo(() => new Playback(), []);
  const since = useBeginning(playback, acts, question.id);
  const [chosen, setChosen] = useState<Chosen>({ deed: null, count: 0 });
  const [help, setHelp] = useState(false);
  useAhead(theatre, sitting);

  const offered = (choice: Choice): boolean => (choice === "skip" ? sitting.can_skip : sitting.choices.includes(choice));
  const mark = (deed: Deed): void => setChosen(({ count }) => ({ deed, count: count + 1 }));
  const choose = (choice: Choice): void => {
    if (blocked || !acts || !offered(choice)) return;
    mark(choice);
    onChoice(choice, secondsSince(since.current));
  };
  const undo = (): void => {
    if (blocked || !sitting.can_undo) return;
    mark("undo");
    onUndo();
  };
  const announced = useMemo(() => `${chosenWords(chosen.deed)} ${pairWords(sitting)}`, [question.id]);
  const missing = [offered("equal") ? "" : "equal", sitting.can_skip ? "" : "skip", sitting.can_undo ? "" : "undo"];
  useKeys({
    left: () => choose("left"),
    right: () => choose("right"),
    equal: () => choose("equal"),
    skip: () => choose("skip"),
    undo,
    help: () => setHelp(true),
  });
  const asks = { blocked: blocked || !acts, chosen, choose, offered };
  return (
    <div class="compare" style={{ "--aspect": theatre.aspect }}>
      <Announcement words={announced} />
      {trouble && <Banner words={trouble} again={again} />}
      <Pair acts={acts} question={question} playback={playback} {...asks} />
      <Answers {...asks} />
      <Confirmation {...chosen} />
      <div class="tools">
        {plays(acts?.[0]) && <Controls playback={playback} />}
        <div class="asides">
          {sitting.can_skip && <Aside label="Skip" keyName="S" blocked={blocked} onClick={() => choose("skip")} />}
          <Aside label="Undo" keyName="Z" blocked={blocked || !sitting.can_undo} onClick={undo} />
          <Aside label="Keys" keyName="?" blocked={false} onClick={() => setHelp(true)} />
        </div>
      </div>
      {help && <Help without={missing} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Start a new pair from its beginning; since when it is seen, in milliseconds. */
function useBeginning(playback: Playback, acts: Act[] | null, question: number): { current: number } {
  const since = useRef(performance.now());
  useEffect(() => {
    if (!acts?.[0]) return;
    playback.begin(frameOf(acts[0]));
    since.current = performance.now();
  }, [playback, acts, question]);
  return since;
}

const DAY = 86_400; // nobody looks longer, and the server takes no more

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
}

/** Load the next pair while this one is looked at. */
function useAhead(theatre: Theatre, sitting: Sitting): void {
  useEffect(() => {
    let over = false;
    if (sitting.stage === "compare") void theatre.prepare(() => over);
    return () => void (over = true);
  }, [theatre, sitting]);
}

/** For screen readers, which see neither the new pair nor the flash of the button. */
function Announcement({ words }: { words: string }): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {words}
    </p>
  );
}

/** The last thing done; counted, so that the same choice twice is confirmed twice. */
interface Chosen {
  deed: Deed | null;
  count: number;
}

/** Seen for a moment; screen readers have heard it already. */
function Confirmation({ deed, count }: Chosen): JSX.Element {
  return (
    <p class="confirmation" aria-hidden="true">
      {deed && <span key={count}>{chosenWords(deed)}</span>}
    </p>
  );
}

interface Asks {
  blocked: boolean;
  chosen: Chosen;
  choose: (choice: Choice) => void;
  offered: (choice: Choice) => boolean;
}

interface PairProps extends Asks {
  acts: Act[] | null;
  question: Question;
  playback: Playback;
}

/** While the next pair is on its way the last one stays, dimmed: an empty frame would flicker. */
function Pair({ acts, question, playback, choose }: PairProps): JSX.Element {
  const last = useRef<Act[]>([]);
  if (acts) last.current = acts;
  const [left, right] = last.current;
  const fresh = question.id % 2 === 0 ? "fresh-even" : "fresh-odd"; // two names, so that each pair fades in anew
  return (
    <div class={`pair ${acts ? fresh : "pair-waiting"}`}>
      <Side name="A" act={left} among={last.current} playback={playback} onClick={() => choose("left")} />
      <Side name="B" act={right} among={last.current} playback={playback} onClick={() => choose("right")} />
      {plays(left) && <PlayOverlay playback={playback} />}
    </div>
  );
}

interface SideProps {
  name: "A" | "B";
  act: Act | undefined;
  among: Act[];
  playback: Playback;
  onClick: () => void;
}

function Side({ name, act, among, playback, onClick }: SideProps): JSX.Element {
  return (
    <figure class="side">
      <figcaption>{name}</figcaption>
      <div class="clip-frame" onClick={onClick}>
        {act && <Screen act={act} among={among} playback={playback} name={`Trajectory ${name}`} />}
        {!act && <div class="screen" />}
      </div>
      {plays(act) && <Timeline playback={playback} />}
    </figure>
  );
}

function Answers(asks: Asks): JSX.Element {
  return (
    <div class="answers" role="group" aria-label="Which is better?">
      <Answer choice="left" title="A" words="is better" keyNames={["←", "F"]} {...asks} />
      {asks.offered("equal") && <Answer choice="equal" title="About equal" words="" keyNames={["↓", "E"]} {...asks} />}
      <Answer choice="right" title="B" words="is better" keyNames={["→", "J"]} {...asks} />
    </div>
  );
}

interface AnswerProps extends Asks {
  choice: Choice;
  title: string;
  words: string;
  keyNames: string[];
}

/** Not the `disabled` attribute: it would throw the keyboard's focus out at every answer. */
function Answer({ choice, title, words, keyNames, blocked, chosen, choose }: AnswerProps): JSX.Element {
  const flash = chosen.deed === choice ? `chosen-${chosen.count % 2 === 0 ? "even" : "odd"}` : "";
  return (
    <button
      type="button"
      class={`answer answer-${choice} ${flash}`}
      aria-disabled={blocked}
      onClick={() => choose(choice)}
      onMouseDown={keepFocus}
    >
      <span>
        <strong>{title}</strong> {words}
      </span>
      <span class="hint" aria-hidden="true">
        {keyNames.map((name) => (
          <kbd key={name}>{name}</kbd>
        ))}
      </span>
    </button>
  );
}

interface AsideProps {
  label: string;
  keyName: string;
  blocked: boolean;
  onClick: () => void;
}

function Aside({ label, keyName, blocked, onClick }: AsideProps): JSX.Element {
  return (
    <button type="button" class="aside" aria-disabled={blocked} onClick={onClick} onMouseDown={keepFocus}>
      {label}{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}
