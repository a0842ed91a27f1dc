/** Light, dark, or as the system has it. Every color is a `light-dark()`, which follows the `color-scheme` of a theme. */

import { signal } from "@preact/signals";

export const THEMES = { system: "As the system", light: "Light", dark: "Dark" } as const;
export type Theme = keyof typeof THEMES;

const REMEMBERED = "prefero.theme"; // public/theme.js reads it before the page is drawn

export const theme = signal<Theme>("system");

/** The theme that this browser was told to have. */
export function readTheme(storage: Storage): void {
  const kept = storage.getItem(REMEMBERED) ?? "";
  theme.value = kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(chosen: Theme, storage: Storage): void {
  theme.value = chosen;
  if (chosen === "system") storage.removeItem(REMEMBERED);
  else storage.setItem(REMEMBERED, chosen);
  const root = document.documentElement;
  root.style.colorScheme = ""; // what public/theme.js has set
  if (chosen === "system") delete root.dataset.theme;
  else root.dataset.theme = chosen;
}
