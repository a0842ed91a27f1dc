/// <reference types="vitest/config" />
import { type BuildEnvironmentOptions, defineConfig } from "vite";

const checks = { pluginTimings: false }; // a warning that depends on how busy the machine is
const license = { fileName: "licenses.md" }; // of the packages in the bundle, which ask to be named

const page: BuildEnvironmentOptions = {
  outDir: "../src/prefero/server/page",
  emptyOutDir: true,
  assetsInlineLimit: 0, // the content security policy allows files, not data URLs
  modulePreload: { polyfill: false },
  license,
  chunkSizeWarningLimit: 800, // three.js, which is loaded only for three-dimensional scenes
  rolldownOptions: { checks },
};

/** One module for notebooks, which the kernel sends to the browser with all that it needs. */
const widget: BuildEnvironmentOptions = {
  outDir: "../src/prefero/notebook/built",
  emptyOutDir: true,
  copyPublicDir: false,
  modulePreload: false,
  license,
  chunkSizeWarningLimit: 900,
  rolldownOptions: {
    checks,
    input: "src/widget/main.tsx",
    preserveEntrySignatures: "strict",
    output: { entryFileNames: "widget.js", codeSplitting: false },
  },
};

export default defineConfig(({ mode }) => ({
  base: "./",
  logLevel: "warn", // no table of the files: `npm run size` prints their sizes
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: mode === "widget" ? widget : page,
  // A browser of its own for every file takes six times as long. Modules are loaded again for every file.
  test: { environment: "happy-dom", isolate: false, include: ["tests/**/*.test.{ts,tsx}"] },
}));
