/** Keys that are pressed in the widget are the widget's: in a notebook, letters are shortcuts that change its cells. */

const SUPPRESS = "data-lm-suppress-shortcuts"; // what JupyterLab looks for on the way from the element that has the focus

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "shiftKey">;

/** Does the notebook get this key too? Saving, running a cell and leaving the widget still work. */
export function isForNotebook({ key, ctrlKey, altKey, metaKey, shiftKey }: Press, inDialog: boolean): boolean {
  if (ctrlKey || altKey || metaKey) return true;
  return !inDialog && (key === "Escape" || key === "Tab" || (key === "Enter" && shiftKey));
}

/** JupyterLab may handle keys before the widget gets them, other notebooks after it. Returns how to end this. */
export function keepKeys(host: HTMLElement): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const path = event.composedPath();
    if (!path.includes(host)) return;
    const kept = !isForNotebook(event, path.some((element) => element instanceof HTMLDialogElement));
    host.toggleAttribute(SUPPRESS, kept);
    if (kept) host.setAttribute(SUPPRESS, "true");
  };
  const stop = (event: Event): void => {
    if (host.hasAttribute(SUPPRESS)) event.stopPropagation();
  };
  window.addEventListener("keydown", onKey, true);
  host.addEventListener("keydown", stop);
  return () => {
    window.removeEventListener("keydown", onKey, true);
    host.removeEventListener("keydown", stop);
  };
}
