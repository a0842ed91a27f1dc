/** "You can stop now": five more answers would change little. It is said once, and again only after much has changed. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { SessionState, StopAdvice } from "../api";
import { formatPercent } from "../format";
import type { Server } from "../server";
import { FinishOrContinue } from "./goal-reached";

const LEAST = 10; // answers, before which the server says that it is too early
const PAUSE = 1500; // milliseconds: the next question comes first
const MANY = 20; // answers
const MUCH = 0.05; // of accuracy

/** When a person chose to continue. */
interface Continued {
  answers: number;
  accuracy: number;
}

const KEY = "prefero-continued"; // in the storage, followed by the name of the session

/** Has much changed since a person chose to continue? */
export function isNews(advice: Pick<StopAdvice, "answers" | "accuracy">, before: Continued | null): boolean {
  if (before === null) return true;
  if (advice.answers < before.answers) return false; // some were taken back
  return advice.answers >= before.answers + MANY || Math.abs(advice.accuracy.mean - before.accuracy) >= MUCH;
}

interface CanStopProps {
  state: SessionState;
  server: Server;
  storage: Storage;
  onFinish: () => void;
}

/** It stays until it is answered, however many questions are answered meanwhile; no key is taken. */
export function CanStop({ state, server, storage, onFinish }: CanStopProps): JSX.Element | null {
  const key = `${KEY} ${server.session ?? ""}`;
  const [continued, setContinued] = useState(() => readContinued(storage, key));
  const [said, setSaid] = useState<StopAdvice | null>(null);
  const { answered } = state;
  useEffect(() => {
    if (answered < LEAST || said) return undefined;
    const timer = setTimeout(() => {
      const show = (advice: StopAdvice): void => {
        if (advice.can_stop && isNews(advice, continued)) setSaid(advice);
      };
      server.get("/api/stopping").then(show, () => undefined); // the next answer asks again
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [answered, said, continued, server]);
  if (!said) return null;
  const goOn = (): void => {
    const now = { answers: said.answers, accuracy: said.accuracy.mean };
    storage.setItem(key, JSON.stringify(now));
    setContinued(now);
    setSaid(null);
  };
  return (
    <div class="target-reached" role="status">
      <p>
        <strong>You can stop now.</strong> <span class="stop-why">{wordsOf(said)}</span>
      </p>
      <FinishOrContinue onFinish={onFinish} onContinue={goOn} />
    </div>
  );
}

/** What was said, with the numbers behind it. */
export function wordsOf({ answers, accuracy, gain, ahead }: StopAdvice): string {
  const points = (100 * gain).toFixed(1);
  return (
    `After ${answers} answers, ${formatPercent(accuracy.mean)} of your answers are expected to be predicted, probably between ` +
    `${formatPercent(accuracy.low)} and ${formatPercent(accuracy.high)}. ${ahead} more would add about ${points} percentage points.`
  );
}

function readContinued(storage: Storage, key: string): Continued | null {
  const kept = JSON.parse(storage.getItem(key) ?? "null") as Partial<Continued> | null;
  return typeof kept?.answers === "number" && typeof kept.accuracy === "number" ? { answers: kept.answers, accuracy: kept.accuracy } : null;
}
