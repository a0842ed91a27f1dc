/** The stage at which a sitting is. */

import type { JSX } from "preact";

import { Compare } from "../compare/compare";
import type { Choice, SessionState } from "../contract";
import type { Session } from "../session";
import type { Trajectories } from "../trajectories";
import { Rate } from "./rate";
import { TargetScoresForm } from "./target-scores-form";
import { Consent, Done, Instructions } from "./texts";

interface StageProps {
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
}

export function CurrentStage({ session, state, trajectories }: StageProps): JSX.Element {
  const blocked = session.blocked.value;
  const step = (data: object): void => void session.step(state.stage, data);
  switch (state.stage) {
    case "consent":
      return <Consent state={state} blocked={blocked} onDone={step} />;
    case "instructions":
      return <Instructions state={state} blocked={blocked} onDone={step} />;
    case "scores":
      return <ScoresStage state={state} blocked={blocked} onDone={step} />;
    case "rate":
      return <RateStage state={state} trajectories={trajectories} blocked={blocked} onDone={step} />;
    case "practice":
    case "compare":
      return <PairStage session={session} state={state} trajectories={trajectories} />;
    case "done":
      return <Done state={state} />;
  }
}

function PairStage({ session, state, trajectories }: StageProps): JSX.Element {
  const { question, stage } = state;
  if (!question) return <Nothing message="There is no pair to compare at the moment." session={session} />;
  const practice = stage === "practice";
  const onChoice = (choice: Choice, seconds: number): void => {
    void (practice ? session.step(stage, { choice }) : session.answer(question.id, choice, seconds));
  };
  const ask = { state, question, trajectories, onChoice, blocked: session.blocked.value };
  return (
    <>
      {practice && <p class="practice">This one is for practice. It does not count: try the keys and the buttons.</p>}
      <Compare key={stage} {...ask} onUndo={() => void session.undo()} />
    </>
  );
}

interface StepProps {
  state: SessionState;
  blocked: boolean;
  onDone: (data: object) => void;
}

function ScoresStage({ state, blocked, onDone }: StepProps): JSX.Element {
  const { scores, title, text } = state;
  return (
    <div class="reading">
      <h1>{title}</h1>
      <p>
        {text ??
          "How much is each target worth to you? Give every colour a number of its own, the best one the highest. " +
            "Keep these numbers in mind when you compare."}
      </p>
      {scores && <TargetScoresForm scores={scores} blocked={blocked} onDone={onDone} />}
    </div>
  );
}

function RateStage({ state, trajectories, blocked, onDone }: StepProps & { trajectories: Trajectories }): JSX.Element {
  const { rating } = state;
  if (!rating) return <p class="waiting">There is nothing to rate at the moment.</p>;
  const onRate = (value: number): void => onDone({ trajectory: rating.trajectory, rating: value });
  return <Rate rating={rating} trajectories={trajectories} blocked={blocked} onRate={onRate} />;
}

function Nothing({ message, session }: { message: string; session: Session }): JSX.Element {
  return (
    <div class="reading">
      <p>{message}</p>
      <button type="button" class="button" onClick={() => void session.open()}>
        Look again
      </button>
    </div>
  );
}
