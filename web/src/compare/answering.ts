/** What keys, buttons, taps and long presses do to a question. */

import { useState } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { useKeys } from "../hooks";
import type { Command } from "../keys";
import type { Action, LastAction } from "./announcements";
import { answerCommands, type AnswerOption, answerOptions, formOf, strongChoice } from "./kinds";
import { rankingWord } from "./order";
import type { RankingState } from "./ranking";

const DAY = 86_400; // the server takes no longer response times

interface AnsweringProps {
  state: SessionState;
  question: ShownQuestion;
  blocked: boolean;
  ready: boolean; // the items are loaded
  waiting: boolean; // until they were watched
  since: { current: number };
  ranking: RankingState;
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onUndo: () => void;
}

export interface Answering {
  options: AnswerOption[];
  commands: Command[];
  last: LastAction;
  refused: number; // answers so far that came too early
  answer: (choice: AnswerKind) => void;
  prefer: (position: number) => void;
  preferStrongly: (position: number) => void;
  submit: () => void;
  undo: () => void;
}

export function useAnswering(props: AnsweringProps): Answering {
  const { state, question, ranking } = props;
  const { kind } = question;
  const ranks = formOf(kind) === "rank";
  const options = answerOptions(kind, state.choices);
  const { last, refused, answer, undo } = useSending(props, options, ranks);
  const prefer = (position: number): void => {
    if (ranks) ranking.toggle(position);
    const option = options.find(({ item }) => item === position);
    if (option) answer(option.choice);
  };
  const preferStrongly = (position: number): void => {
    const choice = strongChoice(kind, position);
    if (choice !== null) answer(choice);
  };
  const submit = (): void => {
    if (ranking.complete) answer(rankingWord(ranking.order));
  };
  const answerKeys = ranks ? rankingKeys(question, ranking, state.ties, submit) : optionKeys(options, answer);
  useKeys({ ...answerKeys, skip: () => answer("skip"), undo });
  const commands = answerCommands(kind, options, question.items.length, state.ties);
  return { options, commands, last, refused, answer, prefer, preferStrongly, submit, undo };
}

type Sending = Pick<Answering, "last" | "refused" | "answer" | "undo">;

/** Send an answer, unless the person has not seen all of the question. */
function useSending(props: AnsweringProps, options: AnswerOption[], ranks: boolean): Sending {
  const { state, question, blocked, ready, waiting, since, onAnswer, onUndo } = props;
  const [last, setLast] = useState<LastAction>({ action: null, count: 0 });
  const [refused, setRefused] = useState(0);
  const remember = (action: Action): void => setLast((before) => ({ action, count: before.count + 1, kind: question.kind }));
  const offered = (choice: AnswerKind): boolean =>
    choice === "skip" ? state.can_skip : ranks || options.some((option) => option.choice === choice);
  const answer = (choice: AnswerKind): void => {
    if (blocked || !ready || !offered(choice)) return;
    if (choice !== "skip" && waiting) {
      setRefused((times) => times + 1);
      return;
    }
    remember(choice);
    onAnswer(choice, secondsSince(since.current));
  };
  const undo = (): void => {
    if (blocked || state.undoable === null) return;
    remember("undo");
    onUndo();
  };
  return { last, refused, answer, undo };
}

type Keys = Partial<Record<Command, () => void>>;

function optionKeys(options: AnswerOption[], answer: (choice: string) => void): Keys {
  return Object.fromEntries(options.map(({ choice, command }) => [command, () => answer(choice)]));
}

function rankingKeys({ items }: ShownQuestion, ranking: RankingState, ties: boolean, submit: () => void): Keys {
  const placing = Object.fromEntries(items.map((_, item) => [String(item + 1), () => ranking.toggle(item)]));
  return { ...placing, ...(ties ? { tie: () => ranking.tie() } : {}), submit };
}

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
}
