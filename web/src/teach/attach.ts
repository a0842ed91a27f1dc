/**
 * Put a chart into the page without its <style>, which the content security policy forbids (teach.css has its rules),
 * and without labels on its groups, which screen readers would read one by one.
 */
export function attach(box: Element, chart: Element): void {
  for (const style of chart.querySelectorAll("style")) style.remove();
  for (const group of chart.querySelectorAll("g[aria-label], g[aria-description]")) {
    group.removeAttribute("aria-label");
    group.removeAttribute("aria-description");
  }
  box.replaceChildren(chart);
}
