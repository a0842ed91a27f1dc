/** The table of keys, and a dialog that shows it. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Key } from "../keys";

export function KeyTable({ keys }: { keys: readonly Key[] }): JSX.Element {
  return (
    <dl class="keys">
      {keys.map(({ command, labels, description }) => (
        <div key={command}>
          <dt>
            {labels.map((label) => (
              <kbd key={label}>{label}</kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}

interface HelpProps {
  keys: readonly Key[];
  clips: boolean; // whether a click on a clip answers
  onClose: () => void;
}

/** A modal <dialog>: the browser keeps the focus inside and closes it on Esc. */
export function Help({ keys, clips, onClose }: HelpProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "?") dialog.current?.close();
  };
  return (
    <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onClose} onKeyDown={onKey}>
      <h2 id="help-title">Keys</h2>
      <KeyTable keys={keys} />
      <p>You can also click or tap {clips ? "a button, or a clip" : "the buttons"}.</p>
      <form method="dialog">
        <button class="button primary">Close</button>
      </form>
    </dialog>
  );
}
