/** Prints the gzipped size of each file of the built page, and fails if those loaded first are too large together. */

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../src/prefero/server/page");
const LIMIT = 400_000;

const names = readdirSync(PAGE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(PAGE, join(entry.parentPath, entry.name)));

const weight = (name) => gzipSync(readFileSync(join(PAGE, name))).length;

/** index.html, what it names, and what those scripts import at once; import("...") is lazy. */
function loadedFirst() {
  const first = new Set(["index.html"]);
  const html = readFileSync(join(PAGE, "index.html"), "utf8");
  const waiting = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1]);
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (first.has(name)) continue;
    first.add(name);
    if (name.endsWith(".js")) waiting.push(...importsOf(name));
  }
  return first;
}

function importsOf(name) {
  const text = readFileSync(join(PAGE, name), "utf8");
  const imports = text.matchAll(/(?:^|[;}\n])(?:import|export)(?:[^;"'()]*?from)?\s*["']\.\/([^"']+)["']/g);
  return [...imports].map((match) => join(dirname(name), match[1]));
}

const first = loadedFirst();
for (const name of names.sort()) {
  console.log(`${String(weight(name)).padStart(9)}  ${first.has(name) ? "first" : "lazy "}  ${name}`);
}
const total = [...first].reduce((sum, name) => sum + weight(name), 0);
console.log(`${String(total).padStart(9)}  bytes gzipped before any lazy part; the limit is ${LIMIT}`);
if (total > LIMIT) process.exit(1);
