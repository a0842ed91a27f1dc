/** The teacher's views, each with an address: Back goes back, and a reload stays. */

import { useEffect, useState } from "preact/hooks";

export const VIEWS = { compare: "Compare", learned: "What it learned", finish: "Finish" } as const;
export type View = keyof typeof VIEWS;

/** The fragment of the address belongs to secrets, so views are in the query. */
export function viewOf(search: string): View {
  const name = new URLSearchParams(search).get("view") ?? "";
  return Object.hasOwn(VIEWS, name) ? (name as View) : "compare";
}

export function useView(): [View, (view: View) => void] {
  const [view, setView] = useState(() => viewOf(location.search));
  useEffect(() => {
    const onBack = (): void => setView(viewOf(location.search));
    window.addEventListener("popstate", onBack);
    return () => window.removeEventListener("popstate", onBack);
  }, []);
  const go = (next: View): void => {
    history.pushState(null, "", next === "compare" ? location.pathname : `${location.pathname}?view=${next}`);
    setView(next);
    window.scrollTo(0, 0);
  };
  return [view, go];
}
