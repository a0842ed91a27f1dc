/** The tabs of the teacher's page. Each has a URL, so that Back goes back and a reload stays on the tab. */

import { useEffect, useState } from "preact/hooks";

import type { SessionState } from "../api";
import { sessionIn } from "../auth";
import type { Server } from "../server";
import type { Session } from "../session";
import type { Signals } from "../signals";
import type { Trajectories } from "../trajectories";
import type { PoolState } from "./pool/pool-state";

export const TABS = { compare: "Questions", learned: "What it learned", pool: "Pool", finish: "Finish" } as const; // name and title
export const VIEWS = { ...TABS, leave: "Leave", sessions: "Sessions" } as const; // views without a tab
export type Tab = keyof typeof VIEWS;

const FIRST: Tab = "compare";

/** What the view of a tab gets. */
export interface TabProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
  signals: Signals;
  server: Server;
  pool: PoolState;
  storage: Storage;
  open: (tab: Tab) => void;
}

/** The tab is in the query of the URL, since the fragment is for secrets. */
export function tabOf(search: string): Tab {
  const name = new URLSearchParams(search).get("view") ?? "";
  return Object.hasOwn(VIEWS, name) ? (name as Tab) : FIRST;
}

/** The section of a view that the URL names, to which a reload comes back; none if it is empty. */
export function sectionOf(search: string): string {
  return new URLSearchParams(search).get("section") ?? "";
}

/** The address of a section of the view that is open. */
export function sectionAddress(section: string): string {
  const query = new URLSearchParams(location.search);
  query.set("section", section);
  return `${location.pathname}?${query.toString()}`;
}

/** Keep the section in the URL; Back leaves the view, and not only the section. */
export function rememberSection(section: string): void {
  history.replaceState(null, "", sectionAddress(section));
}

/** Open a view from anywhere on the page. */
export function openView(view: Tab): void {
  openAddress(sessionIn(location.search), view);
}

/** Show another session; the URL names it, so that each window has its own, also after a reload. */
export function openSession(session: string): void {
  openAddress(session, FIRST);
}

function openAddress(session: string | null, view: Tab): void {
  const query = new URLSearchParams({ ...(session === null ? {} : { session }), ...(view === FIRST ? {} : { view }) }).toString();
  history.pushState(null, "", query ? `${location.pathname}?${query}` : location.pathname);
  window.dispatchEvent(new PopStateEvent("popstate"));
  window.scrollTo(0, 0);
}

export function useTab(): [Tab, (tab: Tab) => void] {
  const [tab, setTab] = useState(() => tabOf(location.search));
  useEffect(() => {
    const onBack = (): void => setTab(tabOf(location.search));
    window.addEventListener("popstate", onBack);
    return () => window.removeEventListener("popstate", onBack);
  }, []);
  return [tab, openView];
}
