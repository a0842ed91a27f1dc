/** The stage at which a sitting is. */

import type { JSX } from "preact";

import { Compare } from "../asking/compare";
import type { Choice, Sitting } from "../contract";
import type { Desk } from "../desk";
import type { Theatre } from "../theatre";
import { Rate } from "./rate";
import { ScoresForm } from "./scores-form";
import { Consent, Done, Instructions } from "./texts";

interface StageProps {
  desk: Desk;
  sitting: Sitting;
  theatre: Theatre;
}

export function CurrentStage({ desk, sitting, theatre }: StageProps): JSX.Element {
  const blocked = desk.blocked.value;
  const step = (data: object): void => void desk.step(sitting.stage, data);
  switch (sitting.stage) {
    case "consent":
      return <Consent sitting={sitting} blocked={blocked} onDone={step} />;
    case "instructions":
      return <Instructions sitting={sitting} blocked={blocked} onDone={step} />;
    case "scores":
      return <ScoresStage sitting={sitting} blocked={blocked} onDone={step} />;
    case "rate":
      return <RateStage sitting={sitting} theatre={theatre} blocked={blocked} onDone={step} />;
    case "practice":
    case "compare":
      return <PairStage desk={desk} sitting={sitting} theatre={theatre} />;
    case "done":
      return <Done sitting={sitting} />;
  }
}

function PairStage({ desk, sitting, theatre }: StageProps): JSX.Element {
  const { question, stage } = sitting;
  if (!question) return <Nothing words="There is no pair to compare at the moment." desk={desk} />;
  const practice = stage === "practice";
  const onChoice = (choice: Choice, seconds: number): void => {
    void (practice ? desk.step(stage, { choice }) : desk.answer(question.id, choice, seconds));
  };
  const ask = { sitting, question, theatre, onChoice, blocked: desk.blocked.value };
  return (
    <>
      {practice && <p class="practice">This one is for practice. It does not count: try the keys and the buttons.</p>}
      <Compare key={stage} {...ask} onUndo={() => void desk.undo()} />
    </>
  );
}

interface StepProps {
  sitting: Sitting;
  blocked: boolean;
  onDone: (data: object) => void;
}

function ScoresStage({ sitting, blocked, onDone }: StepProps): JSX.Element {
  const { scores, title, text } = sitting;
  return (
    <div class="reading">
      <h1>{title}</h1>
      <p>
        {text ??
          "How much is each target worth to you? Give every colour a number of its own, the best one the highest. " +
            "Keep these numbers in mind when you compare."}
      </p>
      {scores && <ScoresForm scores={scores} blocked={blocked} onDone={onDone} />}
    </div>
  );
}

function RateStage({ sitting, theatre, blocked, onDone }: StepProps & { theatre: Theatre }): JSX.Element {
  const { rating } = sitting;
  if (!rating) return <p class="waiting">There is nothing to rate at the moment.</p>;
  const onRate = (mark: number): void => onDone({ trajectory: rating.trajectory, rating: mark });
  return <Rate rating={rating} theatre={theatre} blocked={blocked} onRate={onRate} />;
}

function Nothing({ words, desk }: { words: string; desk: Desk }): JSX.Element {
  return (
    <div class="reading">
      <p>{words}</p>
      <button type="button" class="button" onClick={() => void desk.open()}>
        Look again
      </button>
    </div>
  );
}
