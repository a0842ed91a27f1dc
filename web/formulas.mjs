// Checks the documentation's formulas: reads a JSON list of {tex, display} and writes a JSON list of HTML. The first wrong
// formula ends it.
import katex from "katex";

process.stdin.setEncoding("utf-8");
let text = "";
for await (const chunk of process.stdin) text += chunk;
const formulas = JSON.parse(text);
const rendered = formulas.map(({ tex, display }) =>
  katex.renderToString(tex, { displayMode: display, strict: "error", throwOnError: true }),
);
process.stdout.write(JSON.stringify(rendered));
