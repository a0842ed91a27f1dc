/** Whether the items of a question were shown, so that it can be answered. */

import { useRef, useState } from "preact/hooks";

import type { Playback } from "../player/playback";
import { isPlayable, type Trajectory } from "../trajectories";

/** Why a question cannot be answered yet: positions of items that cannot be played, or none, if they were not shown yet. */
export interface Waiting {
  unplayable: number[];
}

interface Watching {
  waiting: Waiting | null;
  report: (position: number, problem: string) => void; // "" once it can be played
}

/**
 * A question waits until every item was shown to its end or skipped through. One that was shown before, as after an
 * undo, does not wait again. A question that cannot be skipped does not wait for items that cannot be played.
 */
export function useWatching(playback: Playback, question: number, items: Trajectory[] | null, canSkip: boolean): Watching {
  const seen = useRef(new Set<number>());
  const [found, setFound] = useState<{ question: number; unplayable: number[] }>({ question, unplayable: [] });
  if (playback.shown.value !== null) seen.current.add(playback.shown.value);
  const report = (position: number, problem: string): void =>
    setFound((before) => {
      const others = before.question === question ? before.unplayable.filter((other) => other !== position) : [];
      return { question, unplayable: problem ? [...others, position].sort() : others };
    });
  const unplayable = found.question === question ? found.unplayable : [];
  const shown = items !== null && (seen.current.has(question) || !items.some(isPlayable));
  const waits = unplayable.length > 0 ? canSkip : !shown;
  return { waiting: waits ? { unplayable } : null, report };
}
