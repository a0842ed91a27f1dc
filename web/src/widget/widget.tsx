/** Teaching in a notebook: the page's questions, player and keys, and its progress. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { Progress } from "../compare/progress";
import { Notice, ProblemBanner } from "../components";
import { KeyPlace } from "../hooks";
import { PendingRequests } from "../pending";
import type { ClipSource } from "../player/clips";
import type { Server } from "../server";
import { type SessionProps, SessionView } from "../session-view";
import { MemoryStorage } from "../storage";
import { CurrentStage } from "../study/stages";
import { GoalReached, isGoalReached, TargetReached } from "../teach/goal-reached";
import { WhyNoVideos } from "../teach/why-no-videos";

/** Keys work while the widget has the focus, which a click anywhere in it gives. */
export function Widget({ server, clipSource }: { server: Server; clipSource: ClipSource }): JSX.Element {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const pending = useMemo(() => new PendingRequests(new MemoryStorage(), ""), []);
  const takeFocus = (): void => {
    if (!place?.matches(":focus-within")) place?.focus({ preventScroll: true });
  };
  const afterClick = (): void => void requestAnimationFrame(takeFocus); // a button that is gone by then had it
  const focus = { onPointerDown: takeFocus, onClick: afterClick };
  return (
    <div class="widget" ref={setPlace} tabIndex={0} role="region" aria-label="Teach the learner" {...focus}>
      {place && (
        <KeyPlace.Provider value={place}>
          <SessionView server={server} pending={pending} clipSource={clipSource}>
            {(props) => <Teaching {...props} />}
          </SessionView>
        </KeyPlace.Provider>
      )}
    </div>
  );
}

function Teaching({ session, state, trajectories }: SessionProps): JSX.Element {
  return (
    <>
      <header class="header">
        <span class="click-for-keys">Click here to answer with keys</span>
        <Progress state={state} />
      </header>
      <main>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        <Question session={session} state={state} trajectories={trajectories} />
      </main>
    </>
  );
}

function Question({ session, state, trajectories }: SessionProps): JSX.Element {
  const { pastGoal, pastTotal } = session;
  if (isGoalReached(state) && !pastGoal.value) {
    return (
      <GoalReached state={state}>
        <NextStep onContinue={() => void (pastGoal.value = true)} />
      </GoalReached>
    );
  }
  return (
    <>
      {state.answered >= state.total && !pastTotal.value && (
        <TargetReached of={state.total}>
          <NextStep onContinue={() => void (pastTotal.value = true)} />
        </TargetReached>
      )}
      <CurrentStage session={session} state={state} trajectories={trajectories} />
      <WhyNoVideos display={trajectories.display} />
    </>
  );
}

/** What a notebook does with a finished session, or one more question. */
function NextStep({ onContinue }: { onContinue: () => void }): JSX.Element {
  return (
    <div class="next-step">
      <span>
        In the next cell: <code>reward = learner.reward()</code>
      </span>
      <button type="button" class="button" onClick={onContinue}>
        Continue answering
      </button>
    </div>
  );
}
