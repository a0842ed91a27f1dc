/** How a study is going, for the person who runs it. */

import type { JSX } from "preact";

import type { Attendance, Person } from "../contract";
import { agoWords, asPercent, figure } from "../figures";
import { usePoll, useTitle } from "../hooks";
import { Banner, Meter, Waiting } from "../parts";
import type { Server } from "../server";

const EVERY = 2; // seconds

export function Watch({ server }: { server: Server }): JSX.Element {
  const { value, trouble } = usePoll(() => server.get<Attendance>("/api/experimenter"), EVERY);
  useTitle("Watch", value?.title ?? "");
  return (
    <>
      <header class="top">
        <span class="brand">{value?.title ?? "Prefero"}</span>
        {value && <Finished {...value} />}
      </header>
      <main>
        <h1>How the study is going</h1>
        {trouble && <Banner words={value ? `${trouble} What you see may be old.` : trouble} />}
        {value && <People people={value.people} now={Date.now()} />}
        {!value && !trouble && <Waiting words="Loading…" />}
      </main>
    </>
  );
}

function Finished({ finished, invited }: Attendance): JSX.Element {
  return (
    <div class="progress">
      <span class="progress-words">
        {finished} of {invited} finished
      </span>
      <Meter share={invited > 0 ? finished / invited : 0} label="Participants who have finished" />
    </div>
  );
}

function People({ people, now }: { people: Person[]; now: number }): JSX.Element {
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
              <PersonRow key={person.label} person={person} now={now} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function PersonRow({ person, now }: { person: Person; now: number }): JSX.Element {
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
      <td>{agoWords(person.last_seen, now)}</td>
      <td class="number">{person.median_seconds === null ? "–" : `${figure(person.median_seconds)} s`}</td>
      <td class="number">{person.left_share === null ? "–" : asPercent(person.left_share)}</td>
      <td class="number">{person.retest === null ? "–" : asPercent(person.retest)}</td>
    </tr>
  );
}
