/** The stages of a session: the title and the view of each. The server says which stage comes when. */

import type { JSX } from "preact";

import type { AnswerKind, SessionState, Stage, StageData } from "../api";
import { Compare } from "../compare/compare";
import { kindOf } from "../compare/registry";
import { StartView } from "../player/start-view";
import type { Session } from "../session";
import type { Signals } from "../signals";
import type { Trajectories } from "../trajectories";
import { OwnScores } from "./own-scores";
import { Rate } from "./rate";
import { TargetScoresForm } from "./target-scores-form";
import { Consent, Done, Instructions } from "./texts";

export interface StageProps {
  title: string;
  session: Session;
  state: SessionState;
  trajectories: Trajectories;
  signals?: Signals | undefined; // of a teacher's page
  tools?: JSX.Element | undefined; // and its own tools beside those of every question
  blocked: boolean;
  onDone: (data: StageData) => void; // submit the stage with its data
}

interface StageView {
  title: string;
  View: (props: StageProps) => JSX.Element;
}

export const STAGES: Record<Stage, StageView> = {
  consent: { title: "Consent", View: Consent },
  instructions: { title: "Instructions", View: Instructions },
  target_scores: { title: "Your scores", View: ScoresStage },
  practice: { title: "Practice", View: PracticeStage },
  compare: { title: "Questions", View: CompareStage },
  rate: { title: "Rate", View: RateStage },
  done: { title: "Thank you", View: Done },
};

export function CurrentStage({ session, state, trajectories, signals, tools }: Omit<StageProps, "title" | "blocked" | "onDone">): JSX.Element {
  const { title, View } = STAGES[state.stage];
  const { stage } = state;
  const onDone = (data: StageData): void => {
    if (stage !== "compare" && stage !== "done") void session.submit(stage, data); // these two have nothing to submit
  };
  const props = { title, session, state, trajectories, signals, tools, blocked: session.blocked.value, onDone };
  return <View key={stage} {...props} />;
}

function PracticeStage(props: StageProps): JSX.Element {
  const note = (
    <p class="practice">
      This question is for practice and does not count. Try <span class="for-keyboard">the keys and </span>the buttons.
    </p>
  );
  return <QuestionView {...props} note={note} onAnswer={(choice) => props.onDone({ choice })} />;
}

function CompareStage(props: StageProps): JSX.Element {
  const { session, state } = props;
  const onAnswer = (kind: AnswerKind, seconds: number): void => {
    if (state.question) void session.answer(state.question.id, kind, seconds);
  };
  return <QuestionView {...props} onAnswer={onAnswer} onReason={(feature) => session.giveReason(feature)} />;
}

interface QuestionProps extends StageProps {
  note?: JSX.Element;
  onAnswer: (kind: AnswerKind, seconds: number) => void;
  onReason?: (feature: string) => void;
}

function QuestionView({ session, state, trajectories, signals, tools, blocked, note, onAnswer, onReason }: QuestionProps): JSX.Element {
  const { question } = state;
  if (!question) return <NoQuestion session={session} />;
  const asking = { state, question, trajectories, signals, tools, blocked, onAnswer, ...(onReason && { onReason }) };
  const scores = state.own_scores;
  return (
    <div class={`question-page ${scores ? "with-scores" : ""} ${note ? "with-note" : ""}`}>
      <h1 class="question">{kindOf(question.kind).heading(trajectories.display.subject)}</h1>
      <p class="task">{state.task_description}</p>
      {scores && <OwnScores scores={scores} />}
      {note}
      <Compare {...asking} onUndo={() => void session.undo()} />
    </div>
  );
}

function NoQuestion({ session }: { session: Session }): JSX.Element {
  return (
    <div class="text-page">
      <h1>No question</h1>
      <p>There is no question to answer at the moment.</p>
      <button type="button" class="button" onClick={() => void session.open()}>
        Check again
      </button>
    </div>
  );
}

function ScoresStage({ title, state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const { target_scores: scores, text } = state;
  return (
    <div class="text-page scores-page">
      <h1>{title}</h1>
      <p>
        {text ??
          "How much is each target worth to you? Give every target a different number; a higher number is better. " +
            "You will see these numbers again when you compare."}
      </p>
      <div class="scores-columns">
        <StartView trajectories={trajectories} name="Where the targets are" />
        {scores && <TargetScoresForm scores={scores} blocked={blocked} onDone={onDone} />}
      </div>
    </div>
  );
}

function RateStage({ state, trajectories, blocked, onDone }: StageProps): JSX.Element {
  const { rating } = state;
  if (!rating) return <p class="loading">There is nothing to rate at the moment.</p>;
  const onRate = (value: number): void => onDone({ number: rating.number, trajectory: rating.trajectory, rating: value });
  return <Rate rating={rating} trajectories={trajectories} blocked={blocked} onRate={onRate} />;
}
