/** Whether the items of a question were shown, so that it can be answered. */

import { useRef, useState } from "preact/hooks";

import type { SessionState } from "../api";
import type { Playback } from "../player/playback";
import { isPlayable, type Trajectory } from "../trajectories";

/** Why a question cannot be answered yet: its items are not all there, were not shown to their end, or cannot be played. */
export type Waiting = { reason: "loading" } | { reason: "unseen" } | { reason: "unplayable"; items: number[] };

interface Watching {
  waiting: Waiting | null;
  report: (position: number, problem: string) => void; // "" once it can be played
}

/**
 * A question waits until all of its items are there, and in a study that demands it until every item was shown to its end
 * or skipped through. One that was shown before, as after an undo, does not wait again. A question that cannot be skipped
 * does not wait for items that cannot be played.
 */
export function useWatching(playback: Playback, question: number, items: Trajectory[] | null, state: SessionState): Watching {
  const seen = useRef(new Set<number>());
  const [found, setFound] = useState<{ question: number; unplayable: number[] }>({ question, unplayable: [] });
  const reached = state.watch_to_end ? playback.shown.value : playback.started.value;
  if (reached !== null) seen.current.add(reached);
  const report = (position: number, problem: string): void =>
    setFound((before) => {
      const others = before.question === question ? before.unplayable.filter((other) => other !== position) : [];
      return { question, unplayable: problem ? [...others, position].sort() : others };
    });
  const unplayable = found.question === question ? found.unplayable : [];
  const waitingFor = (): Waiting | null => {
    if (!items) return { reason: "loading" };
    if (unplayable.length > 0) return state.can_skip ? { reason: "unplayable", items: unplayable } : null;
    if (seen.current.has(question) || !items.some(isPlayable)) return null;
    return { reason: state.watch_to_end ? "unseen" : "loading" };
  };
  return { waiting: waitingFor(), report };
}
