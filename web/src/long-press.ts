/** A press that is held for half a second means more than a tap. */

import { useRef } from "preact/hooks";

const LONG = 500; // milliseconds

interface PressHandlers {
  onClick: () => void;
  onPointerDown?: () => void;
  onPointerUp?: () => void;
  onPointerLeave?: () => void;
  onPointerCancel?: () => void;
  onContextMenu?: (event: Event) => void;
}

/** Handlers for an element; without `onLongPress` every press is a click. */
export function useLongPress(onClick: () => void, onLongPress: (() => void) | undefined): PressHandlers {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const held = useRef(false);
  if (!onLongPress) return { onClick };
  const cancel = (): void => clearTimeout(timer.current);
  return {
    onClick: () => {
      if (!held.current) onClick();
      held.current = false;
    },
    onPointerDown: () => {
      held.current = false;
      timer.current = setTimeout(() => {
        held.current = true;
        onLongPress();
      }, LONG);
    },
    onPointerUp: cancel,
    onPointerLeave: cancel,
    onPointerCancel: cancel,
    onContextMenu: (event) => event.preventDefault(), // which a long touch would open
  };
}
