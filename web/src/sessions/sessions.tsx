/** The list of teaching sessions, for the person who runs the server: open, rename, copy, archive, begin. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { SessionList, TeachingSession } from "../api";
import { LoadingOrError } from "../components";
import { formatAgo, pluralize } from "../format";
import { useLoad, useTitle } from "../hooks";
import type { Server } from "../server";
import { openSession, openView } from "../teach/tabs";
import { ThemeSwitch } from "../theme-switch";
import { CopyDialog, RenameDialog } from "./dialogs";
import { NewSessionCard } from "./new-session";

interface SessionsProps {
  server: Server;
  storage: Storage;
}

export function SessionsPage({ server, storage }: SessionsProps): JSX.Element {
  const [version, setVersion] = useState(0);
  const { value, problem, retry } = useLoad(() => server.get("/api/sessions"), version);
  const reload = (): void => setVersion((count) => count + 1);
  useTitle("Sessions");
  const open = (name: string): Promise<void> => server.post("/api/sessions/open", { name }).then(({ session }) => openSession(session));
  return (
    <>
      <header class="header">
        <span class="brand">Prefero</span>
        {server.session !== null && (
          <button type="button" class="link-button" onClick={() => openView("compare")}>
            Back to the questions
          </button>
        )}
      </header>
      <main class="sessions-page">
        <h1>Sessions</h1>
        {!value && <LoadingOrError problem={problem} retry={retry} message="Loading the sessions…" />}
        {value && <Lists list={value} server={server} reload={reload} />}
        {value && <NewSessionCard server={server} list={value} onBegun={(name) => void open(name)} />}
        <ThemeSwitch storage={storage} />
      </main>
    </>
  );
}

function Lists({ list, server, reload }: { list: SessionList; server: Server; reload: () => void }): JSX.Element {
  const [archived, setArchived] = useState(false);
  const away = list.sessions.filter((one) => one.archived).length;
  const shown = list.sessions.filter((one) => archived || !one.archived);
  return (
    <>
      {shown.length === 0 && <p class="empty">There is no session yet. Begin one below.</p>}
      <ul class="sessions" aria-label="Sessions">
        {shown.map((one) => (
          <SessionRow key={one.name} one={one} server={server} reload={reload} />
        ))}
      </ul>
      {away > 0 && (
        <label class="show-archived">
          <input type="checkbox" checked={archived} onChange={() => setArchived(!archived)} /> Show {pluralize(away, "archived session")}
        </label>
      )}
    </>
  );
}

type Asked = "rename" | "copy" | null;

function SessionRow({ one, server, reload }: { one: TeachingSession; server: Server; reload: () => void }): JSX.Element {
  const [asked, setAsked] = useState<Asked>(null);
  const [problem, setProblem] = useState("");
  const archive = (): void =>
    void server.post("/api/sessions/archive", { name: one.name, archived: !one.archived }).then(reload, (error: unknown) => setProblem(String(error)));
  const close = (): void => setAsked(null);
  const done = (): void => {
    close();
    reload();
  };
  return (
    <li class={one.archived ? "session archived" : "session"}>
      <div class="session-text">
        <h2>{one.name}</h2>
        <p class="session-task">{one.task_description}</p>
        <p class="soft">{factsOf(one)}</p>
        {problem && <p class="problem" role="alert">{problem}</p>}
      </div>
      <div class="session-actions">
        <OpenButtons one={one} current={server.session} />
        <SmallButton label="Rename" name={one.name} onClick={() => setAsked("rename")} />
        <SmallButton label="Copy" name={one.name} onClick={() => setAsked("copy")} />
        <SmallButton label={one.archived ? "Restore" : "Archive"} name={one.name} onClick={archive} />
      </div>
      {asked === "rename" && <RenameDialog server={server} one={one} onDone={done} onClose={close} />}
      {asked === "copy" && <CopyDialog server={server} one={one} onDone={done} onClose={close} />}
    </li>
  );
}

function factsOf({ trajectories, answers, used, archived }: TeachingSession): string {
  const facts = [pluralize(answers, "answer"), `${trajectories} trajectories`, `used ${formatAgo(used, Date.now())}`];
  return [...facts, ...(archived ? ["archived"] : [])].join(" · ");
}

/** One button, or one for each of several people who teach in it. */
function OpenButtons({ one: { name, people }, current }: { one: TeachingSession; current: string | null }): JSX.Element {
  return (
    <>
      {people.map(({ label, session }) => {
        const who = people.length > 1 ? ` as ${label}` : "";
        return (
          <button key={session} type="button" class="button primary" aria-label={`Open ${name}${who}`} onClick={() => openSession(session)}>
            {session === current ? "Continue" : "Open"}
            {who}
          </button>
        );
      })}
    </>
  );
}

function SmallButton({ label, name, onClick }: { label: string; name: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="link-button" aria-label={`${label} ${name}`} onClick={onClick}>
      {label}
    </button>
  );
}
