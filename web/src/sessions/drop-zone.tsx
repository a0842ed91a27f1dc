/** Files that are dropped anywhere onto the page, or chosen. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { openView } from "../teach/tabs";

export const dropped = signal<File[]>([]); // until the list of sessions takes them

/** Take files that are dropped anywhere, and open the list of sessions, where a session begins with them. */
export function DropZone(): JSX.Element | null {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault(); // else the browser opens the file in place of the page
      setOver(event.type === "dragover");
    };
    const onDrop = (event: DragEvent): void => {
      onDrag(event);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      dropped.value = files;
      openView("sessions");
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false); // the pointer has left the window
    };
    window.addEventListener("dragover", onDrag);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onDrag);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("drop", onDrop);
    };
  }, []);
  if (!over) return null;
  return (
    <div class="drop-over">
      <p>Drop videos or a table to begin a session with them</p>
    </div>
  );
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
