/** The choice between light and dark. */

import type { JSX } from "preact";

import { setTheme, theme, type Theme, THEMES } from "./theme";

export function ThemeSwitch({ storage }: { storage: Storage }): JSX.Element {
  return (
    <fieldset class="theme-switch">
      <legend>Colors</legend>
      {(Object.keys(THEMES) as Theme[]).map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={theme.value === name} onChange={() => setTheme(name, storage)} />
          {THEMES[name]}
        </label>
      ))}
    </fieldset>
  );
}
