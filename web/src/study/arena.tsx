/** An arena: how far it is, which tells nothing about the policies; and at its end, for who runs it, what it found. */

import type { JSX } from "preact";

import type { ArenaResult as Result, ArenaState, PolicyStanding } from "../api";
import { Meter } from "../components";
import { formatProbability, formatSigned, pluralize } from "../format";

/** It ends as soon as enough is known, so nobody knows how many are left. */
function answersText({ answers, questions }: ArenaState): string {
  return answers > questions ? pluralize(answers, "answer") : `${answers} of at most ${questions}`;
}

/** `onResult` shows the result again, if there is one. */
export function ArenaProgress({ arena, onResult }: { arena: ArenaState; onResult: () => void }): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-text">{answersText(arena)}</span>
      <Meter fraction={arena.answers / arena.questions} label="Answers given" />
      {arena.result && (
        <button type="button" class="button" onClick={onResult}>
          Result
        </button>
      )}
    </div>
  );
}

/** What was found, and the ways on: the report, and more answers. */
export function ArenaResult({ result, onContinue }: { result: Result; onContinue: () => void }): JSX.Element {
  const { sentences, standings, report } = result;
  return (
    <div class="text-page">
      <h1>Result</h1>
      <div class="prose" role="status">
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <StandingsTable standings={standings} />
      <p class="soft">A policy whose strength is 1 higher wins 84% of the comparisons.</p>
      <p>All answers are saved. This command writes a report with a figure and every answer:</p>
      <pre>
        <code>{report}</code>
      </pre>
      <p>You can close this page, or go on: more answers make the result surer. You are still not told whose the rollouts are.</p>
      <button type="button" class="button" onClick={onContinue}>
        Continue answering
      </button>
    </div>
  );
}

/** With a column of successes if somebody said what is acceptable, and without comparisons if there are none. */
function StandingsTable({ standings }: { standings: PolicyStanding[] }): JSX.Element {
  const hasSuccess = standings.some((standing) => standing.success !== null);
  const hasPairs = standings.some(({ wins, losses, ties }) => wins + losses + ties > 0);
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
            {hasSuccess && <th scope="col">Success, 90% interval</th>}
            {hasPairs && (
              <th scope="col" class="number">
                Won, lost, equal
              </th>
            )}
            <th scope="col" class="number">Better than the next</th>
          </tr>
        </thead>
        <tbody>
          {standings.map((standing) => (
            <StandingRow key={standing.policy} standing={standing} place={place} hasPairs={hasPairs} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  standing: PolicyStanding;
  place: (value: number) => number;
  hasPairs: boolean;
}

function StandingRow({ standing, place, hasPairs }: RowProps): JSX.Element {
  const { policy, strength, low, high, wins, losses, ties, better_than_next: better } = standing;
  return (
    <tr>
      <th scope="row">{policy}</th>
      <td>
        <Interval low={place(low)} value={place(strength)} high={place(high)} />
        {formatSigned(strength)}{" "}
        <span class="soft">
          ({formatSigned(low)} to {formatSigned(high)})
        </span>
      </td>
      <SuccessCell standing={standing} />
      {hasPairs && (
        <td class="number">
          {wins}, {losses}, {ties}
        </td>
      )}
      <td class="number">{better === null ? "" : formatProbability(better)}</td>
    </tr>
  );
}

/** The probability that a rollout passes, from 0 to 1, and how many did. */
function SuccessCell({ standing }: { standing: PolicyStanding }): JSX.Element | null {
  const { success, success_low: low, success_high: high, passes, fails } = standing;
  if (success === null || low === null || high === null) return null;
  return (
    <td>
      <Interval low={100 * low} value={100 * success} high={100 * high} />
      {formatProbability(success)}{" "}
      <span class="soft">
        ({formatProbability(low)} to {formatProbability(high)}), {passes} of {passes + fails} passed
      </span>
    </td>
  );
}

/** A bar from low to high with a mark at the value, in percent of its width. */
function Interval({ low, value, high }: { low: number; value: number; high: number }): JSX.Element {
  return (
    <div class="interval" aria-hidden="true">
      <div class="interval-bar" style={{ left: `${low}%`, width: `${high - low}%` }} />
      <div class="interval-mark" style={{ left: `${value}%` }} />
    </div>
  );
}
