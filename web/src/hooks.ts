/** Habits that several views share. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { type Command, listen } from "./asking/keys";
import { awayWords } from "./desk";
import { type Away, patiently } from "./server";
import type { Act, Theatre } from "./theatre";

export function useTitle(...words: string[]): void {
  const title = [...words, "Prefero"].filter(Boolean).join(" · ");
  useEffect(() => void (document.title = title), [title]);
}

/** Take the keyboard along when `what` changes: the button that was pressed is gone by then. */
export function useFocusOn(what: string): { current: HTMLElement | null } {
  const place = useRef<HTMLElement>(null);
  const last = useRef(what);
  useEffect(() => {
    if (last.current !== what) place.current?.focus();
    last.current = what;
  }, [what]);
  return place;
}

/** Before the view is painted: whoever sees a button may press its key. */
export function useKeys(commands: Partial<Record<Command, () => void>>): void {
  const latest = useRef(commands);
  latest.current = commands;
  useLayoutEffect(() => listen(() => latest.current), []);
}

export interface Loaded<T> {
  value: T | null;
  trouble: string;
  again: () => void;
}

/** Fetch when `key` changes, patiently while the server is away; an older value stays until the new one is here. */
export function useLoad<T>(load: () => Promise<T>, key: string | number): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [trouble, setTrouble] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let gone = false;
    const unlessGone =
      <V>(set: (value: V) => void) =>
      (value: V): void => {
        if (!gone) set(value);
      };
    const say = unlessGone(setTrouble);
    patiently(load, (away) => say(away ? awayWords(away, null) : ""), () => gone).then(
      unlessGone((loaded: T) => setValue(() => loaded)),
      (failure: unknown) => say(wordsOf(failure)),
    );
    return () => void (gone = true);
  }, [key, tries]);
  return { value, trouble, again: () => setTries((count) => count + 1) };
}

/** The trajectories with these indices, without waiting if all are here; else null until they are. */
export function useActs(theatre: Theatre, indices: number[]): { acts: Act[] | null; trouble: string; again: () => void } {
  const key = indices.join();
  const held = useRef<{ key: string; acts: Act[] } | null>(null);
  const load = useLoad(async () => ({ key, acts: await Promise.all(indices.map((index) => theatre.load(index))) }), key);
  if (held.current?.key !== key) held.current = load.value?.key === key ? load.value : ready(theatre, indices);
  return { acts: held.current?.acts ?? null, trouble: load.trouble, again: load.again };
}

function ready(theatre: Theatre, indices: number[]): { key: string; acts: Act[] } | null {
  const acts = indices.flatMap((index) => theatre.ready(index) ?? []);
  return acts.length === indices.length ? { key: indices.join(), acts } : null;
}

/** Fetch again and again, `seconds` after each answer. */
export function usePoll<T>(load: () => Promise<T>, seconds: number): Omit<Loaded<T>, "again"> {
  const [value, setValue] = useState<T | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let gone = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const words = (away: Away | null): void => setTrouble(away ? awayWords(away, null) : "");
      await patiently(load, words, () => gone).then(setValue, (failure: unknown) => setTrouble(wordsOf(failure)));
      if (!gone) timer = setTimeout(() => void poll(), seconds * 1000);
    };
    void poll();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [seconds]);
  return { value, trouble };
}

function wordsOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
