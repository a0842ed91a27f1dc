/** The view of a teacher: compare, see what was learned, look through the pool, finish. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { Progress } from "../compare/progress";
import { Notice, ProblemBanner } from "../components";
import { useTitle } from "../hooks";
import { Lazy } from "../lazy";
import { keepFocus } from "../player/controls";
import { Signals } from "../signals";
import { CurrentStage } from "../study/stages";
import { CanStop } from "./can-stop";
import { onChange } from "./changes";
import { FinishView } from "./finish";
import { FinishOrContinue, GoalReached, isGoalReached, Outlook, TargetReached } from "./goal-reached";
import { Hint, useHints } from "./hints";
import { LearnedView } from "./learned";
import { LeaveView } from "./leave";
import { Menu } from "./menu";
import { PoolState } from "./pool/pool-state";
import { QuestionRemarks } from "./remarks";
import { type Tab, type TabProps, TABS, useTab, VIEWS } from "./tabs";
import { WhyNoVideos } from "./why-no-videos";

const CONTENT: Record<Exclude<Tab, "sessions">, (props: TabProps) => JSX.Element> = {
  compare: CompareView,
  learned: LearnedView,
  pool: (props) => <Lazy load={() => import("./pool/pool-view").then(({ PoolView }) => PoolView)} props={props} />,
  finish: FinishView,
  leave: LeaveView,
};

interface TeachProps extends Omit<TabProps, "open" | "signals" | "pool"> {
  manages: boolean; // whether the person runs the server
}

export function Teach({ manages, ...props }: TeachProps): JSX.Element {
  const { session, state, server, storage } = props;
  const signals = useMemo(() => new Signals(server, storage), [server, storage]);
  const hints = useHints(storage);
  useEffect(() => onChange(server.session, () => void session.open()), [server, session]);
  const pool = useMemo(() => new PoolState(), []);
  const [tab, open] = useTab();
  const View = CONTENT[tab === "sessions" ? "compare" : tab]; // the list of sessions is shown without any of them
  useTitle(VIEWS[tab], state.title);
  return (
    <>
      <header class="header">
        <span class="brand">{state.title}</span>
        <Tabs tab={tab} open={open} />
        <Progress state={state} />
        <Menu manages={manages} server={server} session={session} state={state} storage={storage} onHints={hints.show} />
      </header>
      <main>
        <ProblemBanner problem={session.problem.value} />
        <Notice message={session.notice.value} />
        {tab === "compare" && <Hint {...hints} />}
        <View key={tab} {...props} signals={signals} pool={pool} open={open} />
      </main>
    </>
  );
}

function Tabs({ tab, open }: { tab: Tab; open: (tab: Tab) => void }): JSX.Element {
  return (
    <nav class="tabs" aria-label="Views">
      {(Object.keys(TABS) as (keyof typeof TABS)[]).map((name) => (
        <button
          key={name}
          type="button"
          class="tab"
          aria-current={name === tab ? "page" : undefined}
          onClick={() => open(name)}
          onMouseDown={keepFocus}
        >
          {TABS[name]}
        </button>
      ))}
    </nav>
  );
}

/** Beside those of every question: notes, and the way back from a question that was chosen by hand. */
function OwnTools({ session, state, server }: Pick<TabProps, "session" | "state" | "server">): JSX.Element {
  const { question } = state;
  return (
    <>
      {question?.by_hand && (
        <button type="button" class="secondary-button withdraw" title="Let the model ask instead" onClick={() => void session.withdraw(question.id)} onMouseDown={keepFocus}>
          Withdraw<span class="visually-hidden"> your question</span>
        </button>
      )}
      <QuestionRemarks session={session} state={state} server={server} />
    </>
  );
}

function CompareView({ session, state, trajectories, signals, server, storage, open }: TabProps): JSX.Element {
  const { answered, total } = state;
  const { pastGoal, pastTotal } = session;
  const onFinish = (): void => open("finish");
  const byHand = state.question?.by_hand === true;
  if (isGoalReached(state) && !pastGoal.value && !byHand) {
    return (
      <GoalReached state={state}>
        <Outlook server={server} answered={answered} />
        <FinishOrContinue onFinish={onFinish} onContinue={() => void (pastGoal.value = true)} />
      </GoalReached>
    );
  }
  const targetReached = answered >= total && !pastTotal.value;
  return (
    <>
      {targetReached && (
        <TargetReached of={total}>
          <FinishOrContinue onFinish={onFinish} onContinue={() => void (pastTotal.value = true)} />
        </TargetReached>
      )}
      {!targetReached && state.stage === "compare" && <CanStop state={state} server={server} storage={storage} onFinish={onFinish} />}
      <CurrentStage session={session} state={state} trajectories={trajectories} signals={signals} tools={<OwnTools session={session} state={state} server={server} />} />
      <WhyNoVideos display={trajectories.display} />
    </>
  );
}
