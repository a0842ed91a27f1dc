/// <reference types="vitest/config" />
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/prefero/server/page",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows files, not data URLs
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" }, // of the packages in the bundle, which ask to be named
    chunkSizeWarningLimit: 800, // three.js, which is loaded only for three-dimensional scenes
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
