/** The keys, in a dialog. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { KEYS } from "../keys";

export function KeyTable({ without = [] }: { without?: readonly string[] }): JSX.Element {
  return (
    <dl class="keys">
      {KEYS.filter(({ command }) => !without.includes(command)).map(({ command, labels, description }) => (
        <div key={command}>
          <dt>
            {labels.map((name) => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A modal dialog keeps the focus inside, and Esc closes it: the browser sees to both. */
export function Help({ without, onClose }: { without: readonly string[]; onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "?") dialog.current?.close();
  };
  return (
    <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onClose} onKeyDown={onKey}>
      <h2 id="help-title">Keys</h2>
      <KeyTable without={without} />
      <p>You can also click or tap the buttons, or the clip that is better.</p>
      <form method="dialog">
        <button class="button primary">Close</button>
      </form>
    </dialog>
  );
}
