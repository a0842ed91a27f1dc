/** The mouse over a question: where it rests after a click, and the second click of a double click. */

import { useState } from "preact/hooks";

const ANSWERS = ".answer, .chip, .clip-frame, .reason";

interface PointerHandlers {
  onPointerMove: (event: PointerEvent) => void;
  onClickCapture: (event: MouseEvent) => void;
}

interface Pointer {
  pointed: boolean; // the mouse was moved since the question came: what it rests on may be highlighted
  handlers: PointerHandlers;
}

/** Without a movement, the button that answered the last question would look like an answer to this one. */
export function usePointer(question: number, onTwice: () => void): Pointer {
  const [pointedAt, setPointedAt] = useState<number | null>(null);
  const onPointerMove = ({ pointerType, movementX, movementY }: PointerEvent): void => {
    if (pointerType === "mouse" && (movementX !== 0 || movementY !== 0)) setPointedAt(question);
  };
  const onClickCapture = (event: MouseEvent): void => {
    if (event.detail < 2 || !(event.target instanceof Element && event.target.closest(ANSWERS))) return;
    event.stopPropagation();
    onTwice();
  };
  return { pointed: pointedAt === question, handlers: { onPointerMove, onClickCapture } };
}
