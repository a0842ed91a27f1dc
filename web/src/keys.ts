/** The keys of the page. One key answers and advances. */

export type Command =
  | "left"
  | "right"
  | "equal"
  | "left-much"
  | "right-much"
  | "1"
  | "2"
  | "3"
  | "4"
  | "5"
  | "tie"
  | "submit"
  | "skip"
  | "undo"
  | "pause"
  | "replay"
  | "end"
  | "back"
  | "forward"
  | "slower"
  | "faster"
  | "help";

/** Each command with its keys, their labels on the page, and what it does. */
export const KEYS: readonly { command: Command; keys: readonly string[]; labels: readonly string[]; description: string }[] = [
  { command: "left", keys: ["ArrowLeft", "f"], labels: ["←", "F"], description: "A is better" },
  { command: "right", keys: ["ArrowRight", "j"], labels: ["→", "J"], description: "B is better" },
  { command: "equal", keys: ["ArrowDown", "e"], labels: ["↓", "E"], description: "About equal" },
  { command: "left-much", keys: ["Shift+ArrowLeft", "Shift+f"], labels: ["⇧←", "⇧F"], description: "A is much better" },
  { command: "right-much", keys: ["Shift+ArrowRight", "Shift+j"], labels: ["⇧→", "⇧J"], description: "B is much better" },
  { command: "1", keys: ["1"], labels: ["1"], description: "Choose A" },
  { command: "2", keys: ["2"], labels: ["2"], description: "Choose B" },
  { command: "3", keys: ["3"], labels: ["3"], description: "Choose C" },
  { command: "4", keys: ["4"], labels: ["4"], description: "Choose D" },
  { command: "5", keys: ["5"], labels: ["5"], description: "Choose E" },
  { command: "tie", keys: ["="], labels: ["="], description: "The next is about equal to the last" },
  { command: "submit", keys: ["Enter"], labels: ["Enter"], description: "Send the ranking" },
  { command: "skip", keys: ["s"], labels: ["S"], description: "Skip this question" },
  { command: "undo", keys: ["z", "Backspace"], labels: ["Z", "Backspace"], description: "Undo the last answer" },
  { command: "pause", keys: [" "], labels: ["Space"], description: "Pause or play" },
  { command: "replay", keys: ["r"], labels: ["R"], description: "Play again from the start" },
  { command: "end", keys: ["l", "End"], labels: ["L"], description: "Skip to the end" },
  { command: "back", keys: [","], labels: [","], description: "One frame back" },
  { command: "forward", keys: ["."], labels: ["."], description: "One frame forward" },
  { command: "slower", keys: ["["], labels: ["["], description: "Slower" },
  { command: "faster", keys: ["]"], labels: ["]"], description: "Faster" },
  { command: "help", keys: ["?"], labels: ["?"], description: "Show these keys" },
];

/** The commands that control a player, which do nothing where there is nothing to play. */
export const PLAYER_COMMANDS: readonly Command[] = ["pause", "replay", "end", "back", "forward", "slower", "faster"];

/** The labels of a command's keys. */
export function labelsOf(command: Command): readonly string[] {
  return KEYS.find((key) => key.command === command)?.labels ?? [];
}

const COMMANDS = new Map(KEYS.flatMap(({ command, keys }) => keys.map((key) => [key, command])));

export type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "target"> & { shiftKey?: boolean };

/** The commands of a key press, that with Shift first; none if the focused element uses the key. */
export function commandsOf(keyPress: KeyPress): Command[] {
  if (keyPress.ctrlKey || keyPress.altKey || keyPress.metaKey) return [];
  if (usesKey(keyPress.target, keyPress.key)) return [];
  const key = keyPress.key.length === 1 ? keyPress.key.toLowerCase() : keyPress.key;
  const found = [keyPress.shiftKey ? COMMANDS.get(`Shift+${key}`) : undefined, COMMANDS.get(key)];
  return found.filter((command) => command !== undefined);
}

/** Run commands on key presses in `place`. A key that is held down counts once. */
export function listen(commands: () => Partial<Record<Command, () => void>>, place: EventTarget = window): () => void {
  const onKey = (event: Event): void => {
    if (!(event instanceof KeyboardEvent)) return;
    const offered = commands();
    const command = commandsOf(event).find((one) => offered[one]);
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
  if (target.matches("input[type=radio]")) return key === " " || key.startsWith("Arrow");
  if (target.matches("button, a, summary, input[type=checkbox]")) return key === " " || key === "Enter";
  return target.matches("input, textarea, select, [contenteditable]:not([contenteditable=false])");
}
