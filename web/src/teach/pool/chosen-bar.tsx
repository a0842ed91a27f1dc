/** The trajectories that were chosen by hand, and the button that asks about them. */

import type { JSX } from "preact";

import type { PastAnswer } from "../../api";
import { useLoad } from "../../hooks";
import type { Server } from "../../server";
import type { Session } from "../../session";
import type { Tab } from "../tabs";
import { countOf, type PoolState } from "./pool-state";

interface ChosenBarProps {
  pool: PoolState;
  sizes: number[]; // how many a question of this session has
  session: Session;
  server: Server;
  open: (tab: Tab) => void;
}

export function ChosenBar({ pool, sizes, session, server, open }: ChosenBarProps): JSX.Element | null {
  const chosen = pool.chosen.value;
  const fits = sizes.includes(chosen.length);
  const before = useAnswersAbout(chosen, fits, server);
  if (chosen.length === 0) return null;
  const ask = (): void => {
    void session.choose([...chosen]).then(() => {
      if (session.problem.value || !session.state.value?.question?.by_hand) return;
      pool.chosen.value = [];
      open("compare");
    });
  };
  return (
    <section class="pool-chosen-bar" aria-label="Chosen trajectories">
      <p role="status">
        {countOf(chosen.length)} chosen. {!fits && wanted(sizes)}
        {before.length > 0 && `You answered about these in question ${before.join(" and ")}; you can answer again.`}
      </p>
      <span class="row">
        <button type="button" class="button primary" disabled={!fits || session.blocked.value} onClick={ask}>
          {chosen.length === 1 ? "Ask about this" : "Compare these"}
        </button>
        <button type="button" class="button" onClick={() => void (pool.chosen.value = [])}>
          Clear
        </button>
      </span>
    </section>
  );
}

function wanted(sizes: number[]): string {
  return `A question of this session has ${sizes.join(" or ")}: choose ${sizes.join(" or ")}.`;
}

/** The numbers of the questions in which exactly these were compared. */
function useAnswersAbout(chosen: readonly number[], fits: boolean, server: Server): number[] {
  const key = fits ? [...chosen].sort((a, b) => a - b).join() : "";
  const { value } = useLoad(async (): Promise<PastAnswer[]> => (key ? (await server.get("/api/history")).answers : []), key);
  return (value ?? []).filter(({ items, deleted }) => !deleted && [...items].sort((a, b) => a - b).join() === key).map(({ number }) => number);
}
