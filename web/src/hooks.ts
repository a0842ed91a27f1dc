/** Habits that several views share. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { type Command, listen } from "./keys";
import { unavailableMessage } from "./session";
import { type UnavailableError, withRetries } from "./server";
import type { Trajectory, Trajectories } from "./trajectories";

export function useTitle(...message: string[]): void {
  const title = [...message, "Prefero"].filter(Boolean).join(" · ");
  useEffect(() => void (document.title = title), [title]);
}

/** Take the keyboard along when `what` changes: the button that was pressed is gone by then. */
export function useFocusOnChange(what: string): { current: HTMLElement | null } {
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
  problem: string;
  retry: () => void;
}

/** Fetch when `key` changes, patiently while the server is away; an older value stays until the new one is here. */
export function useLoad<T>(load: () => Promise<T>, key: string | number): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let unmounted = false;
    const ifMounted =
      <V>(set: (value: V) => void) =>
      (value: V): void => {
        if (!unmounted) set(value);
      };
    const say = ifMounted(setProblem);
    withRetries(load, (unavailable) => say(unavailable ? unavailableMessage(unavailable, null) : ""), () => unmounted).then(
      ifMounted((loaded: T) => setValue(() => loaded)),
      (failure: unknown) => say(errorMessage(failure)),
    );
    return () => void (unmounted = true);
  }, [key, tries]);
  return { value, problem, retry: () => setTries((count) => count + 1) };
}

/** The trajectories with these indices, without waiting if all are here; else null until they are. */
export function useTrajectories(trajectories: Trajectories, indices: number[]): { items: Trajectory[] | null; problem: string; retry: () => void } {
  const key = indices.join();
  const held = useRef<{ key: string; items: Trajectory[] } | null>(null);
  const load = useLoad(async () => ({ key, items: await Promise.all(indices.map((index) => trajectories.load(index))) }), key);
  if (held.current?.key !== key) held.current = load.value?.key === key ? load.value : ready(trajectories, indices);
  return { items: held.current?.items ?? null, problem: load.problem, retry: load.retry };
}

function ready(trajectories: Trajectories, indices: number[]): { key: string; items: Trajectory[] } | null {
  const items = indices.flatMap((index) => trajectories.ready(index) ?? []);
  return items.length === indices.length ? { key: indices.join(), items } : null;
}

/** Fetch again and again, `seconds` after each answer. */
export function usePoll<T>(load: () => Promise<T>, seconds: number): Omit<Loaded<T>, "retry"> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let unmounted = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const message = (unavailable: UnavailableError | null): void => setProblem(unavailable ? unavailableMessage(unavailable, null) : "");
      await withRetries(load, message, () => unmounted).then(setValue, (failure: unknown) => setProblem(errorMessage(failure)));
      if (!unmounted) timer = setTimeout(() => void poll(), seconds * 1000);
    };
    void poll();
    return () => {
      unmounted = true;
      clearTimeout(timer);
    };
  }, [seconds]);
  return { value, problem };
}

function errorMessage(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
