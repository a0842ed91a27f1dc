/** The view of an experimenter: the progress of each participant. */

import type { JSX } from "preact";

import type { ParticipantProgress, StudyProgress } from "../api";
import { Banner, Loading, Meter } from "../components";
import { formatAgo, formatNumber, formatPercent } from "../format";
import { usePoll, useTitle } from "../hooks";
import type { Server } from "../server";

const POLL_SECONDS = 2;

export function ExperimenterView({ server }: { server: Server }): JSX.Element {
  const { value, problem } = usePoll(() => server.get("/api/progress"), POLL_SECONDS);
  useTitle("Progress", value?.title ?? "");
  return (
    <>
      <header class="header">
        <span class="brand">{value?.title ?? "Prefero"}</span>
        {value && <Finished {...value} />}
      </header>
      <main>
        <h1>Progress of the study</h1>
        {problem && <Banner message={value ? `${problem} The table may be out of date.` : problem} />}
        {value && <ParticipantTable people={value.participants} now={Date.now()} />}
        {!value && !problem && <Loading message="Loading…" />}
      </main>
    </>
  );
}

function Finished({ finished, invited }: StudyProgress): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-text">
        {finished} of {invited} finished
      </span>
      <Meter fraction={invited > 0 ? finished / invited : 0} label="Participants who have finished" />
    </div>
  );
}

function ParticipantTable({ people, now }: { people: ParticipantProgress[]; now: number }): JSX.Element {
  const started = people.filter((person) => person.started !== null);
  if (people.length === 0) return <p class="empty">Nobody is invited yet. Create links for participants and send them out.</p>;
  return (
    <>
      {started.length === 0 && <p class="empty">Nobody has started yet. The table changes as soon as a participant opens a link.</p>}
      <div class="card table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Participant</th>
              <th scope="col">Stage</th>
              <th scope="col">Answers</th>
              <th scope="col">Last seen</th>
              <th scope="col" class="number">Median time</th>
              <th scope="col" class="number" title="How often the participant chose A, the item on the left">A chosen</th>
              <th scope="col" class="number" title="How often the participant gave the same answer when a question was repeated">Same answer on repeat</th>
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

function ParticipantRow({ person, now }: { person: ParticipantProgress; now: number }): JSX.Element {
  const fraction = person.total ? person.answered / person.total : 0;
  return (
    <tr class={person.started ? "" : "not-started"}>
      <th scope="row">{person.label}</th>
      <td>{person.started ? person.stage : "not started"}</td>
      <td>
        <div class="done-cell">
          <Meter fraction={fraction} label={`Answers of ${person.label}`} />
          <span>{person.answered} of {person.total}</span>
        </div>
      </td>
      <td>{formatAgo(person.last_seen, now)}</td>
      <td class="number">{person.median_seconds === null ? "–" : `${formatNumber(person.median_seconds)} s`}</td>
      <td class="number">{person.left_share === null ? "–" : formatPercent(person.left_share)}</td>
      <td class="number">{person.retest_agreement === null ? "–" : formatPercent(person.retest_agreement)}</td>
    </tr>
  );
}
