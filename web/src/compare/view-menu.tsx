/** How clips are shown: a menu, closed at first, of what has a key too. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { useKeys } from "../hooks";
import type { Commands } from "../keys";
import { keepFocus } from "../player/controls";
import type { Moment } from "../player/timeline";
import { viewOptions } from "../player/view-options";
import type { Signals } from "../signals";
import type { Large } from "./large";

export interface ViewProps {
  count: number; // of items
  large: Large;
  signals: Signals | null; // of a teacher's page
  cameras: readonly string[];
  moment: Moment | null;
  onSeek: (time: number) => void;
}

/** The commands that this question has no use for: their keys do nothing, and help does not name them. */
export function missingViews({ count, signals, cameras, moment }: ViewProps): string[] {
  return [
    ...(count < 2 ? ["large", "swap", "in-turn"] : []),
    ...(signals ? [] : ["values"]),
    ...(moment ? [] : ["difference"]),
    ...(cameras.length < 2 ? ["camera"] : []),
  ];
}

export function ViewMenu(props: ViewProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  useKeys(viewKeys(props));
  useClosing(frame, open, () => setOpen(false));
  const press = { onClick: () => setOpen(!open), onMouseDown: keepFocus };
  return (
    <div class="view-menu" ref={frame}>
      <button type="button" class="secondary-button" aria-expanded={open} aria-haspopup="true" {...press}>
        View
      </button>
      {open && <Choices {...props} />}
    </div>
  );
}

function viewKeys(props: ViewProps): Commands {
  const { large, signals, moment, cameras, onSeek } = props;
  const options = viewOptions();
  const all: Commands = {
    loop: () => options.toggleLoop(),
    large: () => large.toggle(),
    swap: () => large.swap(),
    "in-turn": () => options.toggleInTurn(),
    values: () => signals?.toggleValues(),
    difference: () => moment && onSeek(moment.time),
    camera: () => options.chooseCamera(nextOf(cameras, options.camera.value)),
  };
  const missing = missingViews(props);
  return Object.fromEntries(Object.entries(all).filter(([command]) => !missing.includes(command)));
}

/** The camera after this one; one that is not there counts as the first. */
export function nextOf(cameras: readonly string[], camera: string): string {
  return cameras[(Math.max(cameras.indexOf(camera), 0) + 1) % cameras.length] ?? "";
}

/** Escape and a press elsewhere close the menu; one on a clip then still answers. */
function useClosing(frame: { current: HTMLElement | null }, open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return undefined;
    const onPress = (event: Event): void => {
      if (frame.current && !event.composedPath().includes(frame.current)) close();
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") close();
    };
    document.addEventListener("pointerdown", onPress);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onPress);
      document.removeEventListener("keydown", onKey);
    };
  }, [open]);
}

function Choices({ count, large, signals, cameras, moment, onSeek }: ViewProps): JSX.Element {
  const options = viewOptions();
  return (
    <div class="view-choices" role="group" aria-label="View">
      {count > 1 && (
        <>
          <Choice label="One clip large" keyName="M" checked={large.place !== null} onChange={() => large.toggle()} />
          <Choice label="One after the other" keyName="U" checked={options.inTurn.value} onChange={() => options.toggleInTurn()} />
        </>
      )}
      <Choice label="Play again at the end" keyName="O" checked={options.loop.value} onChange={() => options.toggleLoop()} />
      {signals && <Choice label="Values of features" keyName="I" checked={signals.values.value} onChange={() => signals.toggleValues()} />}
      {cameras.length > 1 && <Cameras cameras={cameras} />}
      {moment && (
        <button type="button" class="view-choice" onClick={() => onSeek(moment.time)} onMouseDown={keepFocus}>
          <span>Go to the largest difference</span>
          <Hint keyName="D" />
        </button>
      )}
    </div>
  );
}

function Hint({ keyName }: { keyName: string }): JSX.Element {
  return (
    <kbd class="hint" aria-hidden="true">
      {keyName}
    </kbd>
  );
}

interface ChoiceProps {
  label: string;
  keyName: string;
  checked: boolean;
  onChange: () => void;
}

function Choice({ label, keyName, checked, onChange }: ChoiceProps): JSX.Element {
  return (
    <label class="view-choice">
      <input type="checkbox" checked={checked} onChange={onChange} />
      <span>{label}</span>
      <Hint keyName={keyName} />
    </label>
  );
}

function Cameras({ cameras }: { cameras: readonly string[] }): JSX.Element {
  const options = viewOptions();
  const chosen = cameras.includes(options.camera.value) ? options.camera.value : cameras[0];
  return (
    <fieldset class="view-cameras">
      <legend>
        Camera <Hint keyName="K" />
      </legend>
      {cameras.map((name): ComponentChildren => (
        <label class="view-choice" key={name}>
          <input type="radio" name="camera" checked={name === chosen} onChange={() => options.chooseCamera(name)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
