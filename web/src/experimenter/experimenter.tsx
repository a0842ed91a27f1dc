/** How a study is going, for the person who runs it. */

import type { JSX } from "preact";

import type { StudyProgress, Participant } from "../contract";
import { formatAgo, formatPercent, formatNumber } from "../format";
import { usePoll, useTitle } from "../hooks";
import { Banner, Meter, Loading } from "../components";
import type { Server } from "../server";

const EVERY = 2; // seconds

export function ExperimenterView({ server }: { server: Server }): JSX.Element {
  const { value, problem } = usePoll(() => server.get<StudyProgress>("/api/experimenter"), EVERY);
  useTitle("Watch", value?.title ?? "");
  return (
    <>
      <header class="top">
        <span class="brand">{value?.title ?? "Prefero"}</span>
        {value && <Finished {...value} />}
      </header>
      <main>
        <h1>How the study is going</h1>
        {problem && <Banner message={value ? `${problem} What you see may be old.` : problem} />}
        {value && <ParticipantTable people={value.people} now={Date.now()} />}
        {!value && !problem && <Loading message="Loading…" />}
      </main>
    </>
  );
}

function Finished({ finished, invited }: StudyProgress): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-words">
        {finished} of {invited} finished
      </span>
      <Meter share={invited > 0 ? finished / invited : 0} label="Participants who have finished" />
    </div>
  );
}

function ParticipantTable({ people, now }: { people: Participant[]; now: number }): JSX.Element {
  const came = people.filter((person) => person.started !== null);
  if (people.length === 0) return <p class="empty">Nobody is invited yet. Create the study's links and send them out.</p>;
  return (
    <>
      {came.length === 0 && <p class="empty">Nobody has come yet. This page will show them as soon as they open their links.</p>}
      <div class="card table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Participant</th>
              <th scope="col">Stage</th>
              <th scope="col">Answers</th>
              <th scope="col">Last seen</th>
              <th scope="col" class="number">Median time</th>
              <th scope="col" class="number" title="The share of answers that chose the left side">A chosen</th>
              <th scope="col" class="number" title="The share of pairs answered alike when asked a second time">Same again</th>
            </tr>
          </thead>
          <tbody>
            {people.map((person) => (
              <ParticipantRow key={person.label} person={person} now={now} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function ParticipantRow({ person, now }: { person: Participant; now: number }): JSX.Element {
  const share = person.of ? person.done / person.of : 0;
  return (
    <tr class={person.started ? "" : "absent"}>
      <th scope="row">{person.label}</th>
      <td>{person.started ? person.stage : "not yet here"}</td>
      <td>
        <div class="done-cell">
          <Meter share={share} label={`Answers of ${person.label}`} />
          <span>{person.of === null ? person.done : `${person.done} of ${person.of}`}</span>
        </div>
      </td>
      <td>{formatAgo(person.last_seen, now)}</td>
      <td class="number">{person.median_seconds === null ? "–" : `${formatNumber(person.median_seconds)} s`}</td>
      <td class="number">{person.left_share === null ? "–" : formatPercent(person.left_share)}</td>
      <td class="number">{person.retest === null ? "–" : formatPercent(person.retest)}</td>
    </tr>
  );
}
