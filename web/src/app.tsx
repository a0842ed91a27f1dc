/** The page: who is there, and the view that belongs to them. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { Desk } from "./desk";
import { Door } from "./door";
import { rememberedOwner } from "./entry";
import { EntryPage } from "./entry-page";
import { useLoad } from "./hooks";
import { Drawer } from "./outbox";
import { Banner, Missing, TroubleBanner, Waiting } from "./parts";
import type { Server } from "./server";
import { Study } from "./study/study";
import { Teach } from "./teach/teach";
import { Theatre } from "./theatre";
import { Watch } from "./watch/watch";

export function App({ storage }: { storage: Storage }): JSX.Element {
  const door = useMemo(() => new Door(storage), [storage]);
  useEffect(() => {
    const arrive = (): void => void door.arrive();
    arrive();
    window.addEventListener("hashchange", arrive); // a link pasted over the page's own address
    return () => window.removeEventListener("hashchange", arrive);
  }, [door]);
  const me = door.me.value;
  const failure = door.failure.value;
  return (
    <div class="page">
      {door.away.value && <Banner words={door.away.value} />}
      {failure && <Banner {...failure} />}
      {!me && !failure && <Waiting words="Loading…" />}
      {me && <Room door={door} storage={storage} />}
      {me?.role && <Foot version={me.version} onLeave={() => void door.leave()} />}
    </div>
  );
}

function Room({ door, storage }: { door: Door; storage: Storage }): JSX.Element {
  const role = door.me.value?.role ?? null;
  const onSecret = (secret: string): void => void door.comeIn(secret);
  if (role === null) return <EntryPage words={door.words.value} busy={door.busy.value} onSecret={onSecret} />;
  if (role === "experimenter") return <Watch server={door.server} />;
  const owner = rememberedOwner(storage);
  return <Seat key={`${role} ${owner}`} role={role} server={door.server} drawer={new Drawer(storage, owner)} />;
}

interface SeatProps {
  role: "teacher" | "participant";
  server: Server;
  drawer: Drawer;
}

/** A sitting needs to know where it stands and what trajectories look like. */
function Seat({ role, server, drawer }: SeatProps): JSX.Element {
  const desk = useMemo(() => new Desk(server, drawer), []);
  const theatre = useLoad(() => Theatre.open(server), "scene");
  useEffect(() => {
    void desk.open();
    return () => desk.close();
  }, [desk]);
  const sitting = desk.sitting.value;
  if (!sitting && desk.trouble.value) return <TroubleBanner trouble={desk.trouble.value} />;
  if (!sitting || !theatre.value) return <Missing trouble={theatre.trouble} again={theatre.again} words="Loading…" />;
  if (role === "participant") return <Study desk={desk} sitting={sitting} theatre={theatre.value} />;
  return <Teach desk={desk} sitting={sitting} theatre={theatre.value} server={server} />;
}

function Foot({ version, onLeave }: { version: string; onLeave: () => void }): JSX.Element {
  return (
    <footer class="foot">
      <span>Prefero {version}</span>
      <button type="button" class="quiet" onClick={onLeave}>
        Leave
      </button>
    </footer>
  );
}
