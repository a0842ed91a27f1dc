/** What is needed now and then: the list of sessions, this session's settings, the phone, hints and colors. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { SessionState } from "../api";
import { Lazy } from "../lazy";
import type { Server } from "../server";
import type { Session } from "../session";
import { ThemeSwitch } from "../theme-switch";
import { openView } from "./tabs";

interface MenuProps {
  manages: boolean; // whether the person runs the server
  server: Server;
  session: Session;
  state: SessionState;
  storage: Storage;
  onHints: () => void;
}

type Opened = "settings" | "phone" | null;

export function Menu({ manages, server, session, storage, onHints }: MenuProps): JSX.Element {
  const [opened, setOpened] = useState<Opened>(null);
  const close = (): void => setOpened(null);
  return (
    <>
      <MenuButton>
        {(leave) => {
          const item = (label: string, run: () => void): JSX.Element => (
            <button type="button" class="menu-item" onClick={() => leave(run)}>
              {label}
            </button>
          );
          return (
            <>
              {manages && item("Sessions", () => openView("sessions"))}
              {manages && item("Settings of this session", () => setOpened("settings"))}
              {manages && item("Open on a phone", () => setOpened("phone"))}
              {item("Show the hints", onHints)}
              <ThemeSwitch storage={storage} />
            </>
          );
        }}
      </MenuButton>
      {opened === "settings" && <Lazy load={() => import("./settings").then((one) => one.SettingsDialog)} props={{ server, session, onClose: close }} />}
      {opened === "phone" && <Lazy load={() => import("./phone").then((one) => one.PhoneDialog)} props={{ server, onClose: close }} />}
    </>
  );
}

type Leave = (run: () => void) => void;

/** A button with a panel below it, which Esc, a click elsewhere and a choice close. */
export function MenuButton({ children }: { children: (leave: Leave) => JSX.Element }): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => (open ? closeElsewhere(box, () => setOpen(false)) : undefined), [open]);
  const onKey = (event: KeyboardEvent): void => {
    if (open) event.stopPropagation(); // keys in the menu answer no question
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    button.current?.focus();
  };
  const leave: Leave = (run) => {
    setOpen(false);
    button.current?.focus(); // where a dialog gives the focus back to
    run();
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKey}>
      <button type="button" class="menu-button" ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        Menu
      </button>
      {open && <div class="menu-panel">{children(leave)}</div>}
    </div>
  );
}

function closeElsewhere(box: { current: HTMLElement | null }, close: () => void): () => void {
  const onPointer = (event: Event): void => {
    if (!box.current?.contains(event.target as Node)) close();
  };
  document.addEventListener("pointerdown", onPointer);
  return () => document.removeEventListener("pointerdown", onPointer);
}
