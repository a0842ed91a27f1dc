/** Numbers and times in words that people read. */

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });

const UNITS_WITHOUT_SPACE = new Set(["°", "%"]);

export function formatNumber(value: number): string {
  return plain.format(Math.abs(value) < 1e-9 ? 0 : value);
}

export function formatWithUnit(value: number | undefined, unit: string): string {
  if (value === undefined) return "not known";
  return formatNumber(value) + (unit && !UNITS_WITHOUT_SPACE.has(unit) ? ` ${unit}` : unit);
}

export function formatPercent(share: number): string {
  return percent.format(share);
}

export function pluralize(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

const STEPS: [number, string][] = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** "3 minutes ago"; within ten seconds it is now. */
export function formatAgo(then: string | null, now: number): string {
  if (then === null) return "not yet";
  const seconds = Math.max((now - Date.parse(then)) / 1000, 0);
  if (seconds < 10) return "now";
  const [size, name] = STEPS.find(([length]) => seconds >= length) ?? [1, "second"];
  return `${pluralize(Math.floor(seconds / size), name)} ago`;
}
