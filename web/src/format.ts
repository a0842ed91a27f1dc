/** Numbers and times as people read them. */

const decimal = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });

const MINUS = "\u2212"; // as wide as a plus, where "-" is a hyphen
const UNITS_WITHOUT_SPACE = new Set(["°", "%"]);

export function formatNumber(value: number): string {
  return decimal.format(Math.abs(value) < 1e-9 ? 0 : value).replace("-", MINUS);
}

export function formatWithUnit(value: number | undefined, unit: string): string {
  if (value === undefined) return "unknown";
  return formatNumber(value) + (unit && !UNITS_WITHOUT_SPACE.has(unit) ? ` ${unit}` : unit);
}

/** A value of a feature: a number with its unit, or the level of a category, whose place it is. */
export function formatFeature({ unit, levels }: { unit: string; levels: string[] }, value: number | undefined): string {
  if (value === undefined || levels.length === 0) return formatWithUnit(value, unit);
  return levels[Math.round(value)] ?? "unknown";
}

const reward = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A reward in standard deviations, with its uncertainty. */
export function formatReward({ mean, std }: { mean: number; std: number }): string {
  const text = reward.format(Math.abs(mean) < 0.05 ? 0 : mean).replace("-", MINUS);
  return `${text} ± ${reward.format(std)}`;
}

/** A difference in standard deviations, "sd" for short. */
export function formatDeviations(count: number): string {
  return `${reward.format(count)} sd`;
}

/** How far a reward is from that of the average trajectory, in standard deviations: "0.4 above average". */
export function formatFromAverage(value: number): string {
  const size = reward.format(Math.abs(value));
  if (Number(size) === 0) return "at the average";
  return `${size} ${value > 0 ? "above" : "below"} average`;
}

const signed = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero" });

/** A number that is compared with 0, with its sign. */
export function formatSigned(value: number): string {
  return signed.format(value).replace("-", MINUS);
}

export function formatPercent(fraction: number): string {
  return percent.format(fraction);
}

/** A probability in whole percents, which never says that something is certain. */
export function formatProbability(probability: number): string {
  if (probability >= 0.995) return "over 99%";
  return probability < 0.005 ? "under 1%" : formatPercent(probability);
}

export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const UNITS: [number, string][] = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** "3 minutes ago"; less than ten seconds is "now". */
export function formatAgo(then: string | null, now: number): string {
  if (then === null) return "never";
  const seconds = Math.max((now - Date.parse(then)) / 1000, 0);
  if (seconds < 10) return "now";
  const [size, name] = UNITS.find(([length]) => seconds >= length) ?? [1, "second"];
  return `${pluralize(Math.floor(seconds / size), name)} ago`;
}

/** The size of files: "3.2 MB". */
export function formatBytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [bytes / 1e9, "GB"] : bytes >= 1e6 ? [bytes / 1e6, "MB"] : [bytes / 1e3, "kB"];
  return `${decimal.format(size)} ${unit}`;
}
