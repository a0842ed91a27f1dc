/** One trajectory, alone and looping. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { useActs } from "../hooks";
import { Missing } from "../parts";
import { Playback } from "../playing/playback";
import { Screen } from "../playing/screen";
import { frameOf, plays, type Theatre } from "../theatre";
import { Controls, PlayOverlay, Timeline } from "./controls";

export function Player({ theatre, index, name }: { theatre: Theatre; index: number; name: string }): JSX.Element {
  const { acts, trouble, again } = useActs(theatre, [index]);
  const playback = useMemo(() => new Playback(), []);
  const [act] = acts ?? [];
  useEffect(() => {
    if (act) playback.begin(frameOf(act));
  }, [act, playback]);
  if (!acts || !act) return <Missing trouble={trouble} again={again} words="Loading the motion…" />;
  return (
    <div class="player" style={{ "--aspect": theatre.aspect }}>
      <div class="clip-frame">
        <Screen act={act} among={acts} playback={playback} name={name} />
        {plays(act) && <PlayOverlay playback={playback} />}
      </div>
      {plays(act) && <Timeline playback={playback} />}
      {plays(act) && <Controls playback={playback} />}
    </div>
  );
}
