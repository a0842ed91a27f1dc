/** The keys of the page. One key answers and advances. */

export type Command =
  | "left"
  | "right"
  | "equal"
  | "skip"
  | "undo"
  | "pause"
  | "replay"
  | "back"
  | "forward"
  | "slower"
  | "faster"
  | "help";

/** What a key does, which keys do it, and how they are called. */
export const KEYS: readonly { command: Command; keys: readonly string[]; names: readonly string[]; words: string }[] = [
  { command: "left", keys: ["ArrowLeft", "f"], names: ["←", "F"], words: "A is better" },
  { command: "right", keys: ["ArrowRight", "j"], names: ["→", "J"], words: "B is better" },
  { command: "equal", keys: ["ArrowDown", "e"], names: ["↓", "E"], words: "About equal" },
  { command: "skip", keys: ["s"], names: ["S"], words: "Skip this pair" },
  { command: "undo", keys: ["z", "Backspace"], names: ["Z", "Backspace"], words: "Undo the last answer" },
  { command: "pause", keys: [" "], names: ["Space"], words: "Pause or play" },
  { command: "replay", keys: ["r"], names: ["R"], words: "Play again from the start" },
  { command: "back", keys: [","], names: [","], words: "One frame back" },
  { command: "forward", keys: ["."], names: ["."], words: "One frame forward" },
  { command: "slower", keys: ["["], names: ["["], words: "Slower" },
  { command: "faster", keys: ["]"], names: ["]"], words: "Faster" },
  { command: "help", keys: ["?"], names: ["?"], words: "Show these keys" },
];

const COMMANDS = new Map(KEYS.flatMap(({ command, keys }) => keys.map((key) => [key, command])));

export type Stroke = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "target">;

/** What a key stroke asks for; null if it is for somebody else. */
export function commandOf(stroke: Stroke): Command | null {
  if (stroke.ctrlKey || stroke.altKey || stroke.metaKey) return null;
  if (belongsTo(stroke.target, stroke.key)) return null;
  const key = stroke.key.length === 1 ? stroke.key.toLowerCase() : stroke.key;
  return COMMANDS.get(key) ?? null;
}

/** Listen to the page's keys. A key that is held down counts once. */
export function listen(commands: () => Partial<Record<Command, () => void>>): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const command = commandOf(event);
    const run = command ? commands()[command] : undefined;
    if (run || pressesAgain(event)) event.preventDefault();
    if (run && !event.repeat) run();
  };
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}

/** A browser presses a focused button again and again while Enter is held. */
function pressesAgain(event: KeyboardEvent): boolean {
  return event.repeat && event.key === "Enter" && event.target instanceof Element && event.target.matches("button");
}

/** Does the element in focus use this key itself? Fields take every key; buttons and boxes only those that press. */
export function belongsTo(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog")) return true;
  if (target.matches("input[type=radio]")) return key === " " || key.startsWith("Arrow");
  if (target.matches("button, a, summary, input[type=checkbox]")) return key === " ";
  return target.matches("input, textarea, select, [contenteditable]:not([contenteditable=false])");
}
