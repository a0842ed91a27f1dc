/** The scores that a participant gives the targets: whole numbers, all different. */

import type { TargetScores } from "../api";

export type Draft = Record<string, number | null>;

export function emptyDraft(scores: TargetScores): Draft {
  return Object.fromEntries(scores.labels.map((label) => [label, null]));
}

export function allowedScores({ lowest, highest }: TargetScores): number[] {
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i);
}

/** What is missing or wrong; "" if nothing is. */
export function validationMessage(scores: TargetScores, draft: Draft): string {
  const double = duplicates(draft);
  if (double.length > 0) return double.map(([score, labels]) => `${joinLabels(labels)} both have ${score}.`).join(" ");
  const empty = scores.labels.filter((label) => draft[label] == null);
  if (empty.length === 0) return "";
  return empty.length === scores.labels.length ? "Give every target a number." : `Still without a number: ${joinLabels(empty)}.`;
}

/** The labels whose score another label has too. */
export function duplicateLabels(draft: Draft): Set<string> {
  return new Set(duplicates(draft).flatMap(([, labels]) => labels));
}

function duplicates(draft: Draft): [number, string[]][] {
  const labelsOf = new Map<number, string[]>();
  for (const [label, score] of Object.entries(draft)) {
    if (score !== null) labelsOf.set(score, [...(labelsOf.get(score) ?? []), label]);
  }
  return [...labelsOf].filter(([, labels]) => labels.length > 1);
}

function joinLabels(labels: string[]): string {
  return labels.length < 2 ? labels.join("") : `${labels.slice(0, -1).join(", ")} and ${labels.at(-1) ?? ""}`;
}

/** The draft as the server expects it, once it is valid. */
export function completed(draft: Draft): Record<string, number> {
  return Object.fromEntries(Object.entries(draft).flatMap(([label, score]) => (score === null ? [] : [[label, score]])));
}
