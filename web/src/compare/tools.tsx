/** What else can be done with a question: the player's controls, skip, undo, and the table of keys. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { SessionState } from "../api";
import { useKeys } from "../hooks";
import { type Key, otherKeys, REASON_KEYS } from "../keys";
import { keepFocus } from "../player/controls";
import type { Signals } from "../signals";
import { Help } from "./help";
import { missingViews, ViewMenu, type ViewProps } from "./view-menu";

interface ToolsProps {
  state: SessionState;
  keys: readonly Key[]; // that answer the question
  blocked: boolean;
  signals: Signals | null; // that can be shown for this question
  view: ViewProps; // how clips are shown
  more?: JSX.Element | undefined; // of a teacher's page
  onSkip: () => void;
  onUndo: () => void;
  children: ComponentChildren; // the controls, if there is anything to play
}

export function Tools({ state, keys, blocked, signals, view, more, onSkip, onUndo, children }: ToolsProps): JSX.Element {
  const [help, setHelp] = useState(false);
  const unused = REASON_KEYS.slice(state.reasons?.reasons.length ?? 0).map(({ command }) => command);
  const absent = [state.can_skip ? "" : "skip", state.undoable === null ? "undo" : "", signals ? "" : "signals", more ? "" : "note"];
  const missing = [...absent, ...unused, ...missingViews(view)];
  useKeys({ help: () => setHelp(true), ...(signals && { signals: () => signals.toggle() }) });
  return (
    <div class="tools">
      {children}
      <ViewSwitches signals={signals} view={children ? view : null} />
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

/** What is shown besides the clips, and how they are shown. */
function ViewSwitches({ signals, view }: { signals: Signals | null; view: ViewProps | null }): JSX.Element | null {
  if (!signals && !view) return null;
  return (
    <div class="view-switches">
      {signals && (
        <SecondaryButton label="Signals" keyName="G" blocked={false} pressed={signals.shown.value} onClick={() => signals.toggle()} />
      )}
      {view && <ViewMenu {...view} />}
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
