// Light or dark, as this browser was told to: before anything is drawn, so that nothing flashes. See src/theme.ts.
try {
  const theme = localStorage.getItem("prefero.theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme; // until the style is there
  }
} catch {
  // a browser without storage: as the system has it
}
