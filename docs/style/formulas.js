// KaTeX renders what arithmatex marks: \(...\) in a line, \[...\] as a block of its own.
for (const formula of document.querySelectorAll(".arithmatex")) {
  katex.render(formula.textContent.slice(2, -2), formula, {
    displayMode: formula.tagName === "DIV",
    throwOnError: false,
  });
}
