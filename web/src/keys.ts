/** The keys of the page. One key answers and advances. */

/** A command with its keys, their labels on the page, and what it does. */
export interface Key {
  command: string;
  keys: readonly string[];
  labels: readonly string[];
  description: string;
}

const REASON_PLACES = ["first", "second", "third"] as const;

/** The keys of the likely reasons of the last answer, which are next to each other; again takes it back. */
export const REASON_KEYS = (["X", "C", "V"] as const).map((label, i) => ({
  command: `reason-${i + 1}`,
  keys: [label.toLowerCase()],
  labels: [label],
  description: `The ${REASON_PLACES[i] ?? ""} reason for your last answer`,
}));

/** The keys of every question; those that answer it are of its kind (`compare/kinds/`). */
export const KEYS: readonly Key[] = [
  { command: "skip", keys: ["s"], labels: ["S"], description: "Skip this question" },
  { command: "undo", keys: ["z", "Backspace"], labels: ["Z", "Backspace"], description: "Undo the last answer" },
  ...REASON_KEYS,
  { command: "pause", keys: [" "], labels: ["Space"], description: "Pause or play" },
  { command: "replay", keys: ["r"], labels: ["R"], description: "Play again from the start" },
  { command: "end", keys: ["l", "End"], labels: ["L"], description: "Skip to the end" },
  { command: "back", keys: [","], labels: [","], description: "One frame back" },
  { command: "forward", keys: ["."], labels: ["."], description: "One frame forward" },
  { command: "slower", keys: ["["], labels: ["["], description: "Slower" },
  { command: "faster", keys: ["]"], labels: ["]"], description: "Faster" },
  { command: "large", keys: ["m"], labels: ["M"], description: "Show one clip large, or all again" },
  { command: "swap", keys: ["w"], labels: ["W"], description: "Show the other clip large" },
  { command: "in-turn", keys: ["u"], labels: ["U"], description: "Play one after the other, or all together" },
  { command: "loop", keys: ["o"], labels: ["O"], description: "Play again at the end, or stop there" },
  { command: "camera", keys: ["k"], labels: ["K"], description: "Change the camera" },
  { command: "difference", keys: ["d"], labels: ["D"], description: "Go to where they differ most" },
  { command: "values", keys: ["i"], labels: ["I"], description: "Show or hide the values of features" },
  { command: "signals", keys: ["g"], labels: ["G"], description: "Show or hide the signals over time" },
  { command: "note", keys: ["t"], labels: ["T"], description: "Write a note or a tag" },
  { command: "help", keys: ["?"], labels: ["?"], description: "Show these keys" },
];

/** The commands that control a player, which do nothing where there is nothing to play. */
const PLAYER_COMMANDS: readonly string[] = ["pause", "replay", "end", "back", "forward", "slower", "faster", "large", "swap", "in-turn", "loop", "camera"];

/** The keys that do not answer the question, without these commands. */
export function otherKeys(playable: boolean, without: readonly string[] = []): Key[] {
  const missing = playable ? without : [...without, ...PLAYER_COMMANDS];
  return KEYS.filter(({ command }) => !missing.includes(command));
}

export type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "target"> & { shiftKey?: boolean };

/** The commands of a key press, that with Shift first; none if the focused element uses the key. */
export function commandsOf(keyPress: KeyPress, keys = KEYS): string[] {
  if (keyPress.ctrlKey || keyPress.altKey || keyPress.metaKey) return [];
  if (usesKey(keyPress.target, keyPress.key)) return [];
  const key = keyPress.key.length === 1 ? keyPress.key.toLowerCase() : keyPress.key;
  const pressed = keyPress.shiftKey ? [`Shift+${key}`, key] : [key];
  return pressed.flatMap((one) => keys.filter((known) => known.keys.includes(one)).map(({ command }) => command));
}

export type Commands = Readonly<Record<string, () => void>>;

/** Run commands on key presses in `place`. A key that is held down counts once. */
export function listen(commands: () => Commands, place: EventTarget = window, keys: () => readonly Key[] = () => KEYS): () => void {
  const onKey = (event: Event): void => {
    if (!(event instanceof KeyboardEvent)) return;
    const offered = commands();
    const command = commandsOf(event, keys()).find((one) => offered[one]);
    const run = command ? offered[command] : undefined;
    if (run || isHeldEnter(event)) event.preventDefault();
    if (run && !event.repeat) run();
  };
  place.addEventListener("keydown", onKey);
  return () => place.removeEventListener("keydown", onKey);
}

/** Browsers click a focused button repeatedly while Enter is held down. */
function isHeldEnter(event: KeyboardEvent): boolean {
  return event.repeat && event.key === "Enter" && event.target instanceof Element && event.target.matches("button");
}

/** Does the focused element use this key itself? Text fields use every key, buttons Space and Enter. */
function usesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog")) return true;
  if (target.matches("[role=slider]")) return key.startsWith("Arrow") || ["Home", "End", "PageUp", "PageDown"].includes(key);
  if (target.matches("input[type=radio]")) return key === " " || key.startsWith("Arrow");
  if (target.matches("button, a, summary, input[type=checkbox]")) return key === " " || key === "Enter";
  return target.matches("input, textarea, select, [contenteditable]:not([contenteditable=false])");
}
