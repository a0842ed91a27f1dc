/** Hooks that several views use. */

import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { type Commands, type Key, KEYS, listen } from "./keys";
import { type UnavailableError, withRetries } from "./server";
import { unavailableMessage } from "./session";
import type { Trajectories, Trajectory } from "./trajectories";

export function useTitle(...words: string[]): void {
  const title = [...words, "Prefero"].filter(Boolean).join(" · ");
  useEffect(() => void (document.title = title), [title]);
}

/** Focus the returned element when `value` changes: the button that had the focus is gone by then. */
export function useFocusOnChange(value: string): { current: HTMLElement | null } {
  const element = useRef<HTMLElement>(null);
  const last = useRef(value);
  useEffect(() => {
    if (last.current !== value) element.current?.focus();
    last.current = value;
  }, [value]);
  return element;
}

/** Where keys are listened to: everywhere on a page of our own, and in the widget where it is inside another page. */
export const KeyPlace = createContext<EventTarget>(window);

/** Listen to keys. A layout effect, so that a key works as soon as its button is visible. */
export function useKeys(commands: Commands, keys: readonly Key[] = KEYS): void {
  const latest = useRef({ commands, keys });
  latest.current = { commands, keys };
  const place = useContext(KeyPlace);
  useLayoutEffect(() => listen(() => latest.current.commands, place, () => latest.current.keys), [place]);
}

export interface Loaded<T> {
  value: T | null;
  problem: string;
  retry: () => void;
}

/** Load when `key` changes, with retries while the server is unavailable. The old value stays until the new one is here. */
export function useLoad<T>(load: () => Promise<T>, key: string | number): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let unmounted = false;
    const ifMounted =
      <V>(set: (value: V) => void) =>
      (value: V): void => {
        if (!unmounted) set(value);
      };
    const report = ifMounted(setProblem);
    withRetries(load, (error) => report(error ? unavailableMessage(error, null) : ""), () => unmounted).then(
      ifMounted((loaded: T) => setValue(() => loaded)),
      (error: unknown) => report(errorMessage(error)),
    );
    return () => void (unmounted = true);
  }, [key, attempt]);
  return { value, problem, retry: () => setAttempt((count) => count + 1) };
}

interface LoadedItems {
  items: Trajectory[] | null;
  problem: string;
  retry: () => void;
}

/** The trajectories with these indices: at once if all are loaded, else null until they are. */
export function useTrajectories(trajectories: Trajectories, indices: number[]): LoadedItems {
  const key = indices.join();
  const held = useRef<{ key: string; items: Trajectory[] } | null>(null);
  const load = useLoad(async () => ({ key, items: await Promise.all(indices.map((index) => trajectories.load(index))) }), key);
  if (held.current?.key !== key) held.current = load.value?.key === key ? load.value : alreadyLoaded(trajectories, indices);
  return { items: held.current?.items ?? null, problem: load.problem, retry: load.retry };
}

function alreadyLoaded(trajectories: Trajectories, indices: number[]): { key: string; items: Trajectory[] } | null {
  const items = indices.flatMap((index) => trajectories.peek(index) ?? []);
  return items.length === indices.length ? { key: indices.join(), items } : null;
}

/** Load again and again, `seconds` after each response. */
export function usePoll<T>(load: () => Promise<T>, seconds: number): Omit<Loaded<T>, "retry"> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let unmounted = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const report = (error: UnavailableError | null): void => setProblem(error ? unavailableMessage(error, null) : "");
      await withRetries(load, report, () => unmounted).then(setValue, (error: unknown) => setProblem(errorMessage(error)));
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

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
