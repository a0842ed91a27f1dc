/** The widget is light or dark as the notebook is, whatever the system is. */

const BRIGHT = 128; // of 255

/** Is this color of a text bright, so that what it is written on must be dark? */
export function isBright(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > BRIGHT;
}

/** Every notebook gives its text a color; how they name their themes differs. Returns how to end this. */
export function followTheme(host: HTMLElement): () => void {
  const update = (): void => void (host.dataset.theme = isBright(getComputedStyle(host.parentElement ?? host).color) ? "dark" : "light");
  const observer = new MutationObserver(update);
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
  update();
  return () => observer.disconnect();
}
