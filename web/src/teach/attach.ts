/**
 * Put a chart into the page without its own <style>, which the page's policy forbids (charts.css has its rules), and
 * without labels on its groups, which are no things of their own to a screen reader.
 */
export function attach(box: Element, chart: Element): void {
  for (const style of chart.querySelectorAll("style")) style.remove();
  for (const group of chart.querySelectorAll("g[aria-label], g[aria-description]")) {
    group.removeAttribute("aria-label");
    group.removeAttribute("aria-description");
  }
  box.replaceChildren(chart);
}
