/** A ranking in the making: tap, press a number or drag, from the best to the worst. */

import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

import { useKeys } from "../../hooks";
import type { Key } from "../../keys";
import { keepFocus } from "../../player/controls";
import { noneKey, noneOption, numberKeys } from "../buttons";
import { type Drag, useDrag } from "../drag";
import { type Asked, type InputProps, type KindView, NONE } from "../kind";
import { itemLabel } from "../layout";
import { completed, movedTo, NOTHING, type Order, placesOf, rankingWord, tieToggled, toggled, unplaced } from "../order";

const TIE = { command: "tie", keys: ["="], labels: ["="], description: "The next is about equal to the last" };
const SUBMIT = { command: "submit", keys: ["Enter"], labels: ["Enter"], description: "Send the ranking" };

export const kind: KindView = {
  heading: (subject) => (subject ? `Rank the motions of ${subject}, the best first` : "Rank them, the best first"),
  choiceName,
  touch: "Tap them from the best to the worst; drag their letters to change the order.",
  keys: keysOf,
  Input: RankingInput,
};

function choiceName(choice: string): string {
  if (choice === NONE) return "none of them";
  return choice.replace(/\d/g, (place) => itemLabel(Number(place) - 1)).replace(/([>=])/g, " $1 ");
}

function keysOf(asked: Asked): Key[] {
  const { count, ties, choices } = asked;
  return [...numberKeys(count), ...(ties ? [TIE] : []), SUBMIT, ...(choices.includes(NONE) ? [noneKey(asked)] : [])];
}

function RankingInput({ question, answer, refuse, whileOpen, blocked, children, ...asked }: InputProps): JSX.Element {
  const { count, ties, choices } = asked;
  const none = choices.includes(NONE) ? (): void => answer(NONE) : null;
  const ranking = useRanking(question, count);
  const { order, complete } = ranking;
  const place = (item: number): void => whileOpen(() => ranking.toggle(item));
  const submit = (): void => {
    if (complete) answer(rankingWord(order));
    else refuse(`Not taken: ${count - order.items.length} of ${count} have no place yet.`);
  };
  const placing = numberKeys(count).map(({ command }, item) => [command, () => place(item)] as const);
  useKeys({ ...Object.fromEntries(placing), tie: () => whileOpen(() => ranking.tie()), submit, ...(none && { none }) }, keysOf(asked));
  return children({
    view: <Ranking ranking={ranking} count={count} ties={ties} blocked={blocked} onToggle={place} onSubmit={submit} onNone={none} />,
    onClick: place,
    places: placesOf(order, count),
  });
}

interface RankingState {
  order: Order; // with the last item, as soon as all others have a place
  together: boolean; // the next item has the place of the last one
  complete: boolean;
  toggle: (item: number) => void;
  move: (item: number, place: number) => void;
  tie: (place?: number) => void;
}

/** The ranking of one question: another question begins with an empty one. */
function useRanking(question: number, count: number): RankingState {
  const [chosen, setChosen] = useState(NOTHING);
  const [together, setTogether] = useState(false);
  const change = (order: Order): void => {
    setChosen(order);
    setTogether(false);
  };
  useLayoutEffect(() => change(NOTHING), [question]);
  const order = completed(chosen, count, together);
  return {
    order,
    together,
    complete: order.items.length === count,
    toggle: (item) => change(toggled(chosen, item, together)),
    move: (item, place) => change(movedTo(order, item, place)),
    tie: (place) => {
      if (place !== undefined) change(tieToggled(order, place));
      else if (chosen.items.length === count) change(tieToggled(chosen, count - 1));
      else setTogether((before) => !before && chosen.items.length > 0);
    },
  };
}

interface RankingProps {
  ranking: RankingState;
  count: number;
  ties: boolean;
  blocked: boolean;
  onToggle: (item: number) => void;
  onSubmit: () => void;
  onNone: (() => void) | null; // null: that is no answer
}

function Ranking({ ranking, count, ties, blocked, onToggle, onSubmit, onNone }: RankingProps): JSX.Element {
  const { order, complete } = ranking;
  const drag = useDrag(ranking);
  return (
    <div class={onNone ? "ranking ranking-or-none" : "ranking"} role="group" aria-label="Your ranking, the best first">
      <ol class="ranked" ref={drag.list}>
        {order.items.map((item, place) => (
          <li key={item} class="ranked-item">
            {place > 0 && <Between tied={order.tied[place] ?? false} ties={ties} onClick={() => ranking.tie(place)} />}
            <Chip item={item} place={place} drag={drag} onClick={() => onToggle(item)} />
          </li>
        ))}
        {unplaced(order.items, count).map((item, i) => (
          <li key={item} class="ranked-item">
            {i === 0 && ranking.together && <span class="between">=</span>}
            <Chip item={item} place={null} drag={drag} onClick={() => onToggle(item)} />
          </li>
        ))}
      </ol>
      <button type="button" class="answer answer-submit" aria-disabled={blocked || !complete} onClick={onSubmit} onMouseDown={keepFocus}>
        <span>
          <strong>{complete ? "This is my order" : hint(order.items.length)}</strong>
        </span>
        <span class="hint" aria-hidden="true">
          <kbd>Enter</kbd>
        </span>
      </button>
      {onNone && <NoneButton count={count} blocked={blocked} onClick={onNone} />}
    </div>
  );
}

function NoneButton({ count, blocked, onClick }: { count: number; blocked: boolean; onClick: () => void }): JSX.Element {
  const { label, rest } = noneOption({ count });
  return (
    <button type="button" class="answer answer-none" aria-disabled={blocked} onClick={onClick} onMouseDown={keepFocus}>
      <span>
        <strong>{label}</strong> {rest}
      </span>
      <span class="hint" aria-hidden="true">
        {noneKey({ count }).labels.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </button>
  );
}

function hint(placed: number): string {
  return placed === 0 ? "Choose the best first" : "Choose the next best";
}

function Between({ tied, ties, onClick }: { tied: boolean; ties: boolean; onClick: () => void }): JSX.Element {
  if (!ties) return <span class="between">&gt;</span>;
  const label = tied ? "About equal: separate them" : "Better: say that they are about equal";
  return (
    <button type="button" class="between" aria-label={label} aria-pressed={tied} onClick={onClick} onMouseDown={keepFocus}>
      {tied ? "=" : ">"}
    </button>
  );
}

interface ChipProps {
  item: number;
  place: number | null;
  drag: Drag;
  onClick: () => void;
}

function Chip({ item, place, drag, onClick }: ChipProps): JSX.Element {
  const name = itemLabel(item);
  const label = place === null ? `${name}, without a place yet` : `${name}, place ${place + 1}`;
  const classes = ["chip", place === null ? "chip-waiting" : "", drag.item === item ? "chip-dragged" : ""];
  return (
    <button
      type="button"
      class={classes.join(" ")}
      data-item={item}
      aria-label={label}
      onPointerDown={(event) => drag.start(event, item)}
      onClick={() => !drag.moved() && onClick()}
      onMouseDown={keepFocus}
    >
      {name}
    </button>
  );
}
