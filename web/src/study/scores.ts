/** The scores of the targets, known only to the person: each a whole number of its own. */

import type { Scores } from "../contract";

export type Draft = Record<string, number | null>;

export function emptyDraft(scores: Scores): Draft {
  return Object.fromEntries(scores.labels.map((label) => [label, null]));
}

export function offeredNumbers({ lowest, highest }: Scores): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** What is still wrong, in words; "" when nothing is. */
export function scoresProblem(scores: Scores, draft: Draft): string {
  const double = doubles(draft);
  if (double.length > 0) return double.map(([score, labels]) => `${listed(labels)} both have ${score}.`).join(" ");
  const empty = scores.labels.filter((label) => draft[label] == null);
  if (empty.length === 0) return "";
  return empty.length === scores.labels.length ? "Give every colour a number." : `Still without a number: ${listed(empty)}.`;
}

/** The labels that share their score with another. */
export function sharing(draft: Draft): Set<string> {
  return new Set(doubles(draft).flatMap(([, labels]) => labels));
}

function doubles(draft: Draft): [number, string[]][] {
  const groups = new Map<number, string[]>();
  for (const [label, score] of Object.entries(draft)) {
    if (score !== null) groups.set(score, [...(groups.get(score) ?? []), label]);
  }
  return [...groups].filter(([, labels]) => labels.length > 1);
}

function listed(labels: string[]): string {
  return labels.length < 2 ? labels.join("") : `${labels.slice(0, -1).join(", ")} and ${labels.at(-1) ?? ""}`;
}

/** The draft as the server wants it, once nothing is wrong. */
export function finished(draft: Draft): Record<string, number> {
  return Object.fromEntries(Object.entries(draft).flatMap(([label, score]) => (score === null ? [] : [[label, score]])));
}
