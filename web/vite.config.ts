import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/prefero/server/page",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy wants files, not data addresses
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" }, // of the packages in the bundle, which ask to be named
    chunkSizeWarningLimit: 800, // three.js, which is loaded only for solid scenes
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
