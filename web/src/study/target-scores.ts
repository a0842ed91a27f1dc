/** The scores of the targets, known only to the person: each a whole number of its own. */

import type { TargetScores } from "../contract";

export type Draft = Record<string, number | null>;

export function emptyDraft(scores: TargetScores): Draft {
  return Object.fromEntries(scores.labels.map((label) => [label, null]));
}

export function allowedScores({ lowest, highest }: TargetScores): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** What is still wrong, in words; "" when nothing is. */
export function validationMessage(scores: TargetScores, draft: Draft): string {
  const double = duplicates(draft);
  if (double.length > 0) return double.map(([score, labels]) => `${joinLabels(labels)} both have ${score}.`).join(" ");
  const empty = scores.labels.filter((label) => draft[label] == null);
  if (empty.length === 0) return "";
  return empty.length === scores.labels.length ? "Give every colour a number." : `Still without a number: ${joinLabels(empty)}.`;
}

/** The labels that share their score with another. */
export function duplicateLabels(draft: Draft): Set<string> {
  return new Set(duplicates(draft).flatMap(([, labels]) => labels));
}

function duplicates(draft: Draft): [number, string[]][] {
  const groups = new Map<number, string[]>();
  for (const [label, score] of Object.entries(draft)) {
    if (score !== null) groups.set(score, [...(groups.get(score) ?? []), label]);
  }
  return [...groups].filter(([, labels]) => labels.length > 1);
}

function joinLabels(labels: string[]): string {
  return labels.length < 2 ? labels.join("") : `${labels.slice(0, -1).join(", ")} and ${labels.at(-1) ?? ""}`;
}

/** The draft as the server wants it, once nothing is wrong. */
export function completed(draft: Draft): Record<string, number> {
  return Object.fromEntries(Object.entries(draft).flatMap(([label, score]) => (score === null ? [] : [[label, score]])));
}
