/** A list of the sections beside their content, or above it where the window is narrow; it marks where one is. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { rememberSection, sectionAddress, sectionOf } from "./tabs";

const SETTLING = 4000; // milliseconds in which content above a section may still grow
const LINE = 0.3; // of the window's height from its top: the section there is the present one
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"]; // a person who does this scrolls by themselves

interface Section {
  id: string;
  title: string;
}

export function WithJumpMenu({ children }: { children: ComponentChildren }): JSX.Element {
  const content = useRef<HTMLDivElement>(null);
  const sections = useSections(content);
  const current = useCurrent(content, sections);
  useRemembered(content);
  const jump = (event: MouseEvent, id: string): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
    event.preventDefault();
    rememberSection(id);
    goTo(content.current, id, matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
  };
  return (
    <div class="with-jump-menu">
      {sections.length > 2 && (
        <nav class="jump-menu" aria-label="Sections">
          {sections.map(({ id, title }) => (
            <a key={id} href={sectionAddress(id)} aria-current={id === current ? "true" : undefined} onClick={(event) => jump(event, id)}>
              {title}
            </a>
          ))}
        </nav>
      )}
      <div class="jump-content" ref={content}>
        {children}
      </div>
    </div>
  );
}

function cards(content: HTMLElement | null): HTMLElement[] {
  return [...(content?.querySelectorAll<HTMLElement>("section.card[id]") ?? [])];
}

/** The sections that are there now: some come when they are computed. */
function useSections(content: { current: HTMLElement | null }): Section[] {
  const [sections, setSections] = useState<Section[]>([]);
  useLayoutEffect(() => {
    const box = content.current;
    if (!box) return undefined;
    const read = (): void => {
      const found = cards(box).map(({ id, firstElementChild }) => ({ id, title: firstElementChild?.textContent ?? "" }));
      setSections((known) => (JSON.stringify(known) === JSON.stringify(found) ? known : found));
    };
    const observer = new MutationObserver(read);
    observer.observe(box, { childList: true, subtree: true });
    read();
    return () => observer.disconnect();
  }, [content]);
  return sections;
}

/** The section at which a person reads; the menu keeps it in view. */
function useCurrent(content: { current: HTMLElement | null }, sections: Section[]): string {
  const [current, setCurrent] = useState("");
  useEffect(() => {
    const read = (): void => setCurrent(currentOf(cards(content.current).map((card) => [card.id, card.getBoundingClientRect().top]), window.innerHeight));
    read();
    window.addEventListener("scroll", read, { passive: true });
    return () => window.removeEventListener("scroll", read);
  }, [content, sections]);
  useEffect(() => {
    const link = document.querySelector<HTMLElement>(".jump-menu [aria-current]");
    const menu = link?.parentElement;
    if (link && menu) menu.scrollLeft = link.offsetLeft - (menu.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return current;
}

/** The last section that begins above the line; at the end of the page, the last one that is in view. */
export function currentOf(tops: readonly (readonly [string, number])[], height: number): string {
  const above = tops.filter(([, top]) => top <= LINE * height);
  return (above.at(-1) ?? tops[0])?.[0] ?? "";
}

/** After a reload, go to the section in the address, as often as what is above it grows. */
function useRemembered(content: { current: HTMLElement | null }): void {
  useEffect(() => {
    const box = content.current;
    const wanted = sectionOf(location.search);
    if (!box || !wanted) return undefined;
    const observer = new ResizeObserver(() => goTo(box, wanted, "auto"));
    const stop = (): void => observer.disconnect();
    observer.observe(box);
    const timer = setTimeout(stop, SETTLING);
    for (const move of MOVES) window.addEventListener(move, stop, { once: true, passive: true });
    return () => {
      stop();
      clearTimeout(timer);
      for (const move of MOVES) window.removeEventListener(move, stop);
    };
  }, [content]);
}

/** The section has the focus, so that Tab goes on from there. */
function goTo(content: HTMLElement | null, id: string, behavior: ScrollBehavior): void {
  const card = cards(content).find((one) => one.id === id);
  if (!card) return;
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ behavior, block: "start" });
}
