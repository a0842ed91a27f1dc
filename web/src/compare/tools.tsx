/** What else can be done with a question: the player's controls, skip, undo, and the table of keys. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { SessionState } from "../api";
import { useKeys } from "../hooks";
import { type Key, otherKeys, REASON_KEYS } from "../keys";
import { keepFocus } from "../player/controls";
import type { Signals } from "../signals";
import { Help } from "./help";

interface ToolsProps {
  state: SessionState;
  keys: readonly Key[]; // that answer the question
  blocked: boolean;
  signals: Signals | null; // that can be shown for this question
  more?: JSX.Element | undefined; // of a teacher's page
  onSkip: () => void;
  onUndo: () => void;
  children: ComponentChildren; // the controls, if there is anything to play
}

export function Tools({ state, keys, blocked, signals, more, onSkip, onUndo, children }: ToolsProps): JSX.Element {
  const [help, setHelp] = useState(false);
  const unused = REASON_KEYS.slice(state.reasons?.reasons.length ?? 0).map(({ command }) => command);
  const missing = [state.can_skip ? "" : "skip", state.undoable === null ? "undo" : "", signals ? "" : "signals", more ? "" : "note", ...unused];
  const toggle = (): void => signals?.toggle();
  useKeys({ help: () => setHelp(true), ...(signals && { signals: toggle }) });
  return (
    <div class="tools">
      {children}
      {signals && (
        <div class="signals-switch">
          <SecondaryButton label="Signals" keyName="G" blocked={false} pressed={signals.shown.value} onClick={toggle} />
        </div>
      )}
      <div class="secondary">
        {more}
        {state.can_skip && <SecondaryButton label="Skip" keyName="S" blocked={blocked} onClick={onSkip} />}
        <SecondaryButton label="Undo" keyName="Z" blocked={blocked || state.undoable === null} onClick={onUndo} />
        <span class="for-keyboard">
          <SecondaryButton label="Keys" keyName="?" blocked={false} onClick={() => setHelp(true)} />
        </span>
      </div>
      {help && (
        <Help keys={[...keys, ...otherKeys(Boolean(children), missing)]} clips={state.items > 1} onClose={() => setHelp(false)} />
      )}
    </div>
  );
}

interface SecondaryButtonProps {
  label: string;
  keyName: string;
  blocked: boolean;
  pressed?: boolean; // of a button that switches something on and off
  onClick: () => void;
}

function SecondaryButton({ label, keyName, blocked, pressed, onClick }: SecondaryButtonProps): JSX.Element {
  const press = { onClick, onMouseDown: keepFocus };
  return (
    <button type="button" class="secondary-button" aria-disabled={blocked} aria-pressed={pressed} {...press}>
      {label}{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}
