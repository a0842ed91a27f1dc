/** The controls of a player. */

import type { JSX } from "preact";

import { useKeys } from "../hooks";
import type { Commands } from "../keys";
import type { Playback } from "./playback";

const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  replay: "M12 5V1.8L6.8 6.5 12 11.2V8a5 5 0 1 1-5 5H4a8 8 0 1 0 8-8z",
  back: "M17 5v14l-9-7zM5 5h2.5v14H5z",
  forward: "M7 5v14l9-7zM16.5 5H19v14h-2.5z",
  slower: "M5 10.7h14v2.6H5z",
  faster: "M10.7 5h2.6v5.7H19v2.6h-5.7V19h-2.6v-5.7H5v-2.6h5.7z",
} as const;

function Icon({ name }: { name: keyof typeof ICONS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} fill="currentColor" />
    </svg>
  );
}

/** A click must not move the focus to the button: Space would then press it again. */
export function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

interface ToolProps {
  icon: keyof typeof ICONS;
  label: string;
  keys: string;
  onClick: () => void;
}

function Tool({ icon, label, keys, onClick }: ToolProps): JSX.Element {
  const press = { onClick, onMouseDown: keepFocus };
  return (
    <button type="button" class="tool" title={`${label} (${keys})`} aria-label={label} aria-keyshortcuts={keys} {...press}>
      <Icon name={icon} />
    </button>
  );
}

export function Controls({ playback }: { playback: Playback }): JSX.Element {
  const playing = playback.playing.value;
  useKeys(playerKeys(playback));
  return (
    <div class="controls" role="group" aria-label="Player">
      <Tool
        icon={playing ? "pause" : "play"}
        label={playing ? "Pause" : "Play"}
        keys="Space"
        onClick={() => playback.toggle()}
      />
      <Tool icon="replay" label="Replay" keys="R" onClick={() => playback.replay()} />
      <Tool icon="back" label="One frame back" keys="," onClick={() => playback.step(-1)} />
      <Tool icon="forward" label="One frame forward" keys="." onClick={() => playback.step(1)} />
      <Tool icon="slower" label="Slower" keys="[" onClick={() => playback.slower()} />
      <output class="speed" aria-label="Speed">
        {playback.speed.value}×
      </output>
      <Tool icon="faster" label="Faster" keys="]" onClick={() => playback.faster()} />
    </div>
  );
}

function playerKeys(playback: Playback): Commands {
  return {
    pause: () => playback.toggle(),
    replay: () => playback.replay(),
    end: () => playback.toEnd(),
    back: () => playback.step(-1),
    forward: () => playback.step(1),
    slower: () => playback.slower(),
    faster: () => playback.faster(),
  };
}

/** Over a still image, for people who want reduced motion. */
export function PlayOverlay({ playback }: { playback: Playback }): JSX.Element | null {
  if (!playback.reducedMotion || playback.playing.value) return null;
  return (
    <button type="button" class="play-overlay" onClick={() => playback.toggle()} onMouseDown={keepFocus}>
      <Icon name="play" /> Play
    </button>
  );
}
