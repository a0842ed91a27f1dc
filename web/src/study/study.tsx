/** What a participant sees: one stage after another, and nothing of what is learned. */

import type { JSX } from "preact";

import { Progress } from "../asking/progress";
import type { Sitting, Stage } from "../contract";
import type { Desk } from "../desk";
import { useFocusOn, useTitle } from "../hooks";
import { Notice, TroubleBanner } from "../parts";
import type { Theatre } from "../theatre";
import { CurrentStage } from "./stage";

const TITLES: Record<Stage, string> = {
  consent: "Before you begin",
  instructions: "Instructions",
  scores: "Your scores",
  practice: "Practice",
  compare: "Compare",
  rate: "Rate",
  done: "Thank you",
};

export function Study({ desk, sitting, theatre }: { desk: Desk; sitting: Sitting; theatre: Theatre }): JSX.Element {
  useTitle(TITLES[sitting.stage], sitting.title);
  const main = useFocusOn(sitting.stage);
  return (
    <>
      <header class="top">
        <span class="brand">{sitting.title}</span>
        {sitting.stage === "compare" && <Progress done={sitting.done} of={sitting.of} />}
      </header>
      <main ref={main} tabIndex={-1}>
        <TroubleBanner trouble={desk.trouble.value} />
        <Notice words={desk.notice.value} />
        {asks(sitting.stage) && <h1 class="question">Which is better?</h1>}
        <CurrentStage desk={desk} sitting={sitting} theatre={theatre} />
      </main>
    </>
  );
}

function asks(stage: Stage): boolean {
  return stage === "compare" || stage === "practice";
}
