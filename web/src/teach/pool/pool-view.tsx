/** All trajectories, a page at a time: sorted, filtered, played, noted, and chosen for a question. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { PoolPage, PoolTrajectory } from "../../api";
import { Banner, LoadingOrError } from "../../components";
import { formatProbability, formatReward, pluralize } from "../../format";
import { useLoad } from "../../hooks";
import { RemarksEditor } from "../remarks";
import type { TabProps } from "../tabs";
import { TrajectoryDialog } from "../trajectory-dialog";
import { PoolCard } from "./card";
import { ChosenBar } from "./chosen-bar";
import { countOf, PAGE, type PoolState, searchOf } from "./pool-state";
import { Toolbar } from "./toolbar";

const TYPING = 250; // milliseconds after which what is typed is searched for

export function PoolView(props: TabProps): JSX.Element {
  const { state, server, pool } = props;
  const key = useSettled(JSON.stringify(searchOf(pool.filters.value)));
  const page = useLoad(() => server.get("/api/pool", searchOf(pool.filters.value)), `${key} ${state.answered}`);
  return (
    <div class="pool">
      <h1>Pool</h1>
      {!page.value && <LoadingOrError problem={page.problem} retry={page.retry} message="Looking through the pool…" />}
      {page.value && page.problem && <Banner message={page.problem} retry={page.retry} />}
      {page.value && <Loaded {...props} page={page.value} reload={page.retry} />}
    </div>
  );
}

/** The value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface LoadedProps extends TabProps {
  page: PoolPage;
  reload: () => void;
}

function Loaded({ page, reload, ...props }: LoadedProps): JSX.Element {
  const { pool, trajectories, session, server, open } = props;
  const [shown, setShown] = useState<PoolTrajectory | null>(null);
  const [, place] = pool.filters.value.sort.split(" ");
  const sortedBy = place === undefined ? undefined : page.features[Number(place)];
  const close = (): void => {
    setShown(null);
    setTimeout(() => void session.annotated.then(reload)); // a note may be sent as the dialog closes
  };
  return (
    <>
      <Toolbar pool={pool} page={page} named={page.trajectories.some(({ id }) => id !== null)} />
      {page.answers < page.enough_answers && <TooEarly page={page} />}
      <Pager pool={pool} page={page} />
      <ul class="pool-grid" style={{ "--aspect": aspectOf(props) }}>
        {page.trajectories.map((one) => (
          <PoolCard
            key={one.index}
            of={one}
            features={page.features}
            sortedBy={sortedBy}
            trajectories={trajectories}
            chosen={pool.chosen.value.includes(one.index)}
            onOpen={() => setShown(one)}
            onChoose={() => pool.toggle(one.index)}
          />
        ))}
      </ul>
      {page.matching > PAGE && <Pager pool={pool} page={page} label="Pages of the pool, below the cards" />}
      <ChosenBar pool={pool} sizes={page.sizes} session={session} server={server} open={open} />
      {shown && <Details {...props} of={shown} known={page.tags.map(({ tag }) => tag)} onClose={close} />}
    </>
  );
}

/** Width by height of the pictures. */
function aspectOf({ trajectories }: TabProps): number {
  return trajectories.display.kind === "features" ? 1.6 : trajectories.aspectOf([0]);
}

function TooEarly({ page }: { page: PoolPage }): JSX.Element {
  const missing = page.enough_answers - page.answers;
  return (
    <p class="soft">
      Rewards are shown after {pluralize(missing, "more answer")}. Until then, sorting by reward or uncertainty keeps the order of the pool.
    </p>
  );
}

interface PagerProps {
  pool: PoolState;
  page: PoolPage;
  label?: string;
}

function Pager({ pool, page: { matching, total }, label = "Pages of the pool" }: PagerProps): JSX.Element {
  const { page } = pool.filters.value;
  const first = page * PAGE;
  const last = Math.min(first + PAGE, matching);
  const some = matching < total ? `${matching.toLocaleString("en")} of ${countOf(total)}` : countOf(total);
  const go = (to: number) => (): void => {
    pool.set({ page: to });
    window.scrollTo(0, 0);
  };
  return (
    <nav class="pool-pager" aria-label={label}>
      <p role="status">
        {matching === 0 ? "No trajectory fits. Show all, or search for something else." : matching > PAGE ? `${first + 1}–${last} of ${some}` : some}
      </p>
      {matching > PAGE && (
        <span class="row">
          <button type="button" class="button" disabled={page === 0} onClick={go(page - 1)}>
            Previous
          </button>
          <button type="button" class="button" disabled={last >= matching} onClick={go(page + 1)}>
            Next
          </button>
        </span>
      )}
    </nav>
  );
}

interface DetailsProps extends TabProps {
  of: PoolTrajectory;
  known: string[]; // tags in use
  onClose: () => void;
}

/** The trajectory plays, with its reward, its features, its note and its tags. */
function Details({ of, known, trajectories, session, pool, onClose }: DetailsProps): JSX.Element {
  const chosen = pool.chosen.value.includes(of.index);
  return (
    <TrajectoryDialog index={of.index} id={of.id} trajectories={trajectories} onClose={onClose}>
      {of.mean !== null && of.std !== null && (
        <p>
          Reward {formatReward({ mean: of.mean, std: of.std })} <span class="soft">standard deviations above the average trajectory</span>
          {of.acceptable !== null && `, ${formatProbability(of.acceptable)} acceptable`}
        </p>
      )}
      <label class="pool-choose">
        <input type="checkbox" checked={chosen} onChange={() => pool.toggle(of.index)} />
        Choose it for a question
      </label>
      <RemarksEditor of={{ trajectory: of.index }} remarks={of} known={known} session={session} />
    </TrajectoryDialog>
  );
}
