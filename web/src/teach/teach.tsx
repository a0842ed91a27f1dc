/** What a teacher sees: compare, look at what was learned, finish. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Progress } from "../asking/progress";
import type { Sitting } from "../contract";
import type { Desk } from "../desk";
import { useTitle } from "../hooks";
import { Notice, TroubleBanner } from "../parts";
import type { Server } from "../server";
import { CurrentStage } from "../study/stage";
import type { Theatre } from "../theatre";
import { FinishView } from "./finish";
import { Learned } from "./learned";
import { type View, VIEWS, useView } from "./views";

interface TeachProps {
  desk: Desk;
  sitting: Sitting;
  theatre: Theatre;
  server: Server;
}

export function Teach({ desk, sitting, theatre, server }: TeachProps): JSX.Element {
  const [view, go] = useView();
  useTitle(VIEWS[view], sitting.title);
  return (
    <>
      <header class="top">
        <span class="brand">{sitting.title}</span>
        <Tabs view={view} go={go} />
        <Progress done={sitting.done} of={sitting.of} />
      </header>
      <main>
        <TroubleBanner trouble={desk.trouble.value} />
        <Notice words={desk.notice.value} />
        {view === "compare" && <CompareView desk={desk} sitting={sitting} theatre={theatre} go={go} />}
        {view === "learned" && <Learned desk={desk} sitting={sitting} theatre={theatre} server={server} go={go} />}
        {view === "finish" && <FinishView sitting={sitting} theatre={theatre} server={server} go={go} />}
      </main>
    </>
  );
}

function Tabs({ view, go }: { view: View; go: (view: View) => void }): JSX.Element {
  return (
    <nav class="tabs" aria-label="Steps">
      {(Object.keys(VIEWS) as View[]).map((name) => (
        <button
          key={name}
          type="button"
          class="tab"
          aria-current={name === view ? "page" : undefined}
          onClick={() => go(name)}
        >
          {VIEWS[name]}
        </button>
      ))}
    </nav>
  );
}

interface CompareViewProps {
  desk: Desk;
  sitting: Sitting;
  theatre: Theatre;
  go: (view: View) => void;
}

function CompareView({ desk, sitting, theatre, go }: CompareViewProps): JSX.Element {
  const [further, setFurther] = useState(false);
  const reached = sitting.of !== null && sitting.done >= sitting.of;
  return (
    <>
      {reached && !further && <Enough of={sitting.of ?? 0} onFinish={() => go("finish")} onGoOn={() => setFurther(true)} />}
      <h1 class="question">Which is better?</h1>
      <CurrentStage desk={desk} sitting={sitting} theatre={theatre} />
    </>
  );
}

/** The number that was asked for is reached; more answers are welcome. */
function Enough({ of, onFinish, onGoOn }: { of: number; onFinish: () => void; onGoOn: () => void }): JSX.Element {
  return (
    <div class="enough" role="status">
      <p>You have given the {of} answers that were asked for. You can finish now, or go on: every answer teaches a little more.</p>
      <div class="row">
        <button type="button" class="button primary" onClick={onFinish}>
          Finish
        </button>
        <button type="button" class="button" onClick={onGoOn}>
          Go on comparing
        </button>
      </div>
    </div>
  );
}
