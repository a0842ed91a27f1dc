/** What keys, buttons, taps and long presses do to a question. */

import { useState } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { useKeys } from "../hooks";
import type { Command } from "../keys";
import { type Action, type LastAction, LOADING, NO_SKIP, NO_UNDO, type Refusal, SENDING, tooEarlyText, unrankedText } from "./announcements";
import { answerCommands, type AnswerOption, answerOptions, formOf, strongChoice } from "./kinds";
import { rankingWord } from "./order";
import type { RankingState } from "./ranking";
import type { Waiting } from "./watching";

const DAY = 86_400; // the server takes no longer response times

interface AnsweringProps {
  state: SessionState;
  question: ShownQuestion;
  blocked: boolean;
  ready: boolean; // the items are loaded
  waiting: Waiting | null; // null: the question can be answered
  since: { current: number };
  ranking: RankingState;
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onUndo: () => void;
}

export interface Answering {
  options: AnswerOption[];
  commands: Command[];
  last: LastAction;
  refusal: Refusal | null; // of the last press; null if it was taken
  answer: (choice: AnswerKind) => void;
  prefer: (position: number) => void;
  preferStrongly: (position: number) => void;
  submit: () => void;
  undo: () => void;
  refuse: (reason: string) => void;
}

export function useAnswering(props: AnsweringProps): Answering {
  const { state, question, ranking } = props;
  const { kind } = question;
  const ranks = formOf(kind) === "rank";
  const count = question.items.length;
  const options = answerOptions(kind, state.choices);
  const { last, refusal, answer, undo, refuse, whileOpen } = useSending(props);
  const place = (item: number): void => whileOpen(() => ranking.toggle(item));
  const prefer = (position: number): void => {
    if (ranks) place(position);
    const option = options.find(({ item }) => item === position);
    if (option) answer(option.choice);
  };
  const preferStrongly = (position: number): void => {
    const choice = strongChoice(kind, position);
    if (choice !== null) answer(choice);
  };
  const submit = (): void => {
    if (ranking.complete) answer(rankingWord(ranking.order));
    else refuse(unrankedText(count - ranking.order.items.length, count));
  };
  const tie = (): void => whileOpen(() => ranking.tie());
  const answerKeys = ranks ? rankingKeys(count, place, state.ties ? { tie, submit } : { submit }) : optionKeys(options, answer);
  useKeys({ ...answerKeys, skip: () => answer("skip"), undo });
  const commands = answerCommands(kind, options, count, state.ties);
  return { options, commands, last, refusal, answer, prefer, preferStrongly, submit, undo, refuse };
}

interface Sending extends Pick<Answering, "last" | "refusal" | "answer" | "undo" | "refuse"> {
  whileOpen: (act: () => void) => void; // act, unless the question cannot be answered at all
}

/** Send an answer, or say why not: no press is dropped without a word. */
function useSending({ state, question, blocked, ready, waiting, since, onAnswer, onUndo }: AnsweringProps): Sending {
  const [last, setLast] = useState<LastAction>({ action: null, count: 0 });
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const refuse = (text: string): void => setRefusal((before) => ({ text, count: (before?.count ?? 0) + 1 }));
  const doUnless = (reason: string, act: () => void): void => {
    if (reason) {
      refuse(reason);
      return;
    }
    setRefusal(null);
    act();
  };
  const remember = (action: Action): void => setLast((before) => ({ action, count: before.count + 1, kind: question.kind }));
  const closed = blocked ? SENDING : ready ? "" : LOADING;
  const tooEarly = waiting ? tooEarlyText(waiting) : "";
  const answer = (choice: AnswerKind): void =>
    doUnless(closed || (choice !== "skip" ? tooEarly : state.can_skip ? "" : NO_SKIP), () => {
      remember(choice);
      onAnswer(choice, secondsSince(since.current));
    });
  const undo = (): void =>
    doUnless(blocked ? SENDING : state.undoable === null ? NO_UNDO : "", () => {
      remember("undo");
      onUndo();
    });
  return { last, refusal, answer, undo, refuse, whileOpen: (act) => doUnless(closed, act) };
}

type Keys = Partial<Record<Command, () => void>>;

function optionKeys(options: AnswerOption[], answer: (choice: string) => void): Keys {
  return Object.fromEntries(options.map(({ choice, command }) => [command, () => answer(choice)]));
}

function rankingKeys(count: number, place: (item: number) => void, others: Keys): Keys {
  const placing = Object.fromEntries(Array.from({ length: count }, (_, item) => [String(item + 1), () => place(item)]));
  return { ...placing, ...others };
}

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
}
