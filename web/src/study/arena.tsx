/** An arena: how far it is, which tells nothing about the policies; and at its end, which policy is better. */

import type { JSX } from "preact";

import type { ArenaState, PolicyStanding } from "../api";
import { Meter } from "../components";
import { formatProbability, pluralize } from "../format";

const GOALS: Record<ArenaState["goal"], string> = { order: "order", best: "best policy" };

export function certaintyText({ goal, probability, confidence, answers }: ArenaState): string {
  const sure = answers > 0 ? `${GOALS[goal]} ${formatProbability(probability)} sure, ` : "";
  return `${sure}goal ${formatProbability(confidence)}`;
}

export function ArenaProgress({ arena }: { arena: ArenaState }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-text">{pluralize(arena.answers, "comparison")}</span>
      <Meter fraction={arena.probability / arena.confidence} label={`How sure the ${GOALS[arena.goal]} is`} />
      <span class="predicted soft">{certaintyText(arena)}</span>
    </div>
  );
}

export function StandingsTable({ standings }: { standings: PolicyStanding[] }): JSX.Element {
  const low = Math.min(...standings.map((standing) => standing.low));
  const high = Math.max(...standings.map((standing) => standing.high));
  const place = (value: number): number => (100 * (value - low)) / Math.max(high - low, 1e-9);
  return (
    <div class="table-frame" role="region" aria-label="Standings" tabIndex={0}>
      <table class="standings">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            <th scope="col">Strength, 90% interval</th>
            <th scope="col" class="number">Won, lost, equal</th>
            <th scope="col" class="number">Better than the next</th>
          </tr>
        </thead>
        <tbody>
          {standings.map((standing) => (
            <StandingRow key={standing.policy} standing={standing} place={place} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function StandingRow({ standing, place }: { standing: PolicyStanding; place: (value: number) => number }): JSX.Element {
  const { policy, strength, low, high, wins, losses, ties, better_than_next: better } = standing;
  return (
    <tr>
      <th scope="row">{policy}</th>
      <td>
        <div class="interval" aria-hidden="true">
          <div class="interval-bar" style={{ left: `${place(low)}%`, width: `${place(high) - place(low)}%` }} />
          <div class="interval-mark" style={{ left: `${place(strength)}%` }} />
        </div>
        <span class="visually-hidden">
          {strength.toFixed(2)}, from {low.toFixed(2)} to {high.toFixed(2)}
        </span>
      </td>
      <td class="number">
        {wins}, {losses}, {ties}
      </td>
      <td class="number">{better === null ? "" : formatProbability(better)}</td>
    </tr>
  );
}
