/** What else can be done with a question: the player's controls, skip, undo, and the table of keys. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { SessionState } from "../api";
import { useKeys } from "../hooks";
import { type Key, otherKeys } from "../keys";
import { keepFocus } from "../player/controls";
import { Help } from "./help";

interface ToolsProps {
  state: SessionState;
  keys: readonly Key[]; // that answer the question
  blocked: boolean;
  onSkip: () => void;
  onUndo: () => void;
  children: ComponentChildren; // the controls, if there is anything to play
}

export function Tools({ state, keys, blocked, onSkip, onUndo, children }: ToolsProps): JSX.Element {
  const [help, setHelp] = useState(false);
  const missing = [state.can_skip ? "" : "skip", state.undoable === null ? "undo" : ""];
  useKeys({ help: () => setHelp(true) });
  return (
    <div class="tools">
      {children}
      <div class="secondary">
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
  onClick: () => void;
}

function SecondaryButton({ label, keyName, blocked, onClick }: SecondaryButtonProps): JSX.Element {
  return (
    <button type="button" class="secondary-button" aria-disabled={blocked} onClick={onClick} onMouseDown={keepFocus}>
      {label}{" "}
      <kbd class="hint" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}
