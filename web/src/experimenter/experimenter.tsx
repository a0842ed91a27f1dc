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
        {value && <ParticipantTable participants={value.participants} now={Date.now()} />}
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

export function ParticipantTable({ participants, now }: { participants: ParticipantProgress[]; now: number }): JSX.Element {
  const started = participants.filter((participant) => participant.started !== null);
  if (participants.length === 0) return <p class="empty">Nobody is invited yet. Create links for participants and send them out.</p>;
  return (
    <>
      {started.length === 0 && <p class="empty">Nobody has started yet. The table changes as soon as a participant opens a link.</p>}
      <div class="card table-frame">
        <table class="participants">
          <thead>
            <tr>
              <th scope="col">Participant</th>
              {COLUMNS.map(({ name, numeric, title }) => (
                <th key={name} scope="col" class={numeric ? "number" : ""} title={title}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {participants.map((participant) => (
              <ParticipantRow key={participant.label} participant={participant} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      <CarelessSigns participants={participants} />
    </>
  );
}

function CarelessSigns({ participants }: { participants: ParticipantProgress[] }): JSX.Element | null {
  const signs = participants.flatMap(({ label, careless_signs }) => careless_signs.map((sign) => ({ label, ...sign })));
  if (signs.length === 0) return null;
  return (
    <section class="card careless" aria-labelledby="careless">
      <h2 id="careless">Signs of carelessness</h2>
      <ul>
        {signs.map(({ label, kind, reason }) => (
          <li key={`${label} ${kind}`}>
            <strong>{label}</strong>, {kind}: {reason}.
          </li>
        ))}
      </ul>
      <p class="soft">These are reasons to look at the answers, and no proof.</p>
    </section>
  );
}

interface Column {
  name: string;
  numeric?: boolean;
  title?: string;
  cell: (participant: ParticipantProgress, now: number) => JSX.Element | string;
}

const UNKNOWN = "–";

const COLUMNS: Column[] = [
  { name: "Stage", cell: ({ started, stage }) => (started ? (stage ?? UNKNOWN) : "not started") },
  { name: "Answers", cell: (participant) => <Answered {...participant} /> },
  { name: "Last seen", cell: ({ last_seen }, now) => formatAgo(last_seen, now) },
  {
    name: "Median time",
    numeric: true,
    cell: ({ median_seconds: seconds }) => (seconds === null ? UNKNOWN : `${formatNumber(seconds)} s`),
  },
  {
    name: "A chosen",
    numeric: true,
    title: "How often the participant chose A, the first item",
    cell: ({ left_fraction: fraction }) => (fraction === null ? UNKNOWN : formatPercent(fraction)),
  },
  {
    name: "Same answer on repeat",
    numeric: true,
    title: "How often the participant gave the same answer when a question was repeated",
    cell: ({ retest_agreement: fraction }) => (fraction === null ? UNKNOWN : formatPercent(fraction)),
  },
];

/** On a phone a row is a card, in which the name of each column stands before its value. */
function ParticipantRow({ participant, now }: { participant: ParticipantProgress; now: number }): JSX.Element {
  return (
    <tr class={participant.started ? "" : "not-started"}>
      <th scope="row">
        {participant.label}
        {participant.careless_signs.length > 0 && <span class="careless-mark">careless?</span>}
      </th>
      {COLUMNS.map(({ name, numeric, cell }) => (
        <td key={name} class={numeric ? "number" : ""} data-column={name}>{cell(participant, now)}</td>
      ))}
    </tr>
  );
}

function Answered({ label, answered, total }: ParticipantProgress): JSX.Element {
  return (
    <div class="done-cell">
      <Meter fraction={total ? answered / total : 0} label={`Answers of ${label}`} />
      <span>{answered} of {total}</span>
    </div>
  );
}
