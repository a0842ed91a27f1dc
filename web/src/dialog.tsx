/** A modal dialog with a title: the browser keeps the focus inside and closes it on Esc. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const stop = (event: Event): void => event.stopPropagation(); // keys typed here answer no question
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby={id} onClose={onClose} onKeyDown={stop}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** The buttons at the end of a dialog's form. */
export function DialogButtons({ action, busy, onCancel }: { action: string; busy: boolean; onCancel: () => void }): JSX.Element {
  return (
    <div class="row">
      <button class="button primary" disabled={busy}>
        {action}
      </button>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
