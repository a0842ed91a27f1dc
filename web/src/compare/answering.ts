/** Sending an answer, skipping and undoing. */

import { useState } from "preact/hooks";

import type { AnswerKind, SessionState, ShownQuestion } from "../api";
import { useKeys } from "../hooks";
import { type Action, type LastAction, LOADING, NO_SKIP, NO_UNDO, type Refusal, SENDING, tooEarlyText } from "./announcements";
import type { Waiting } from "./watching";

const DAY = 86_400; // the server takes no longer response times

interface AnsweringProps {
  state: SessionState;
  question: ShownQuestion;
  blocked: boolean;
  ready: boolean; // the items are loaded
  waiting: Waiting | null; // null: the question can be answered
  since: { current: number };
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onUndo: () => void;
}

interface Answering {
  last: LastAction;
  refusal: Refusal | null; // of the last press; null if it was taken
  answer: (choice: AnswerKind) => void;
  undo: () => void;
  refuse: (reason: string) => void;
  whileOpen: (act: () => void) => void; // act, unless the question cannot be answered at all
}

/** Send an answer, or say why not: no press is dropped without a word. */
export function useAnswering(props: AnsweringProps): Answering {
  const { state, question, blocked, ready, waiting, since, onAnswer, onUndo } = props;
  const [last, setLast] = useState<LastAction>({ action: null, count: 0, kind: question.kind, words: state.words });
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
  const remember = (action: Action): void =>
    setLast((before) => ({ action, count: before.count + 1, kind: question.kind, words: state.words }));
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
  useKeys({ skip: () => answer("skip"), undo });
  return { last, refusal, answer, undo, refuse, whileOpen: (act) => doUnless(closed, act) };
}

function secondsSince(then: number): number {
  return Math.min(Math.round(performance.now() - then) / 1000, DAY);
}
