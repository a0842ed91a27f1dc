/** What the server says and hears: the HTTP API in types. */

export type Role = "teacher" | "participant" | "experimenter";

export interface Me {
  role: Role | null;
  study: string | null;
  version: string;
}

export type Choice = "left" | "right" | "equal" | "skip";
export type Stage = "consent" | "instructions" | "target_scores" | "practice" | "compare" | "rate" | "done";

export interface Question {
  id: number;
  number: number;
  items: number[];
  value: number | null;
  unit: string | null;
}

export interface TargetScores {
  labels: string[];
  colors: string[];
  lowest: number;
  highest: number;
}

export interface Rating {
  trajectory: number;
  number: number;
  total: number;
  lowest: number;
  highest: number;
}

export interface SessionState {
  stage: Stage;
  title: string;
  text: string | null;
  answered: number;
  total: number;
  question: Question | null;
  choices: Choice[];
  can_undo: boolean;
  can_skip: boolean;
  target_scores: TargetScores | null;
  rating: Rating | null;
}

/** What may be shown after the next answer; not `complete`: more will be known soon. */
export interface Prefetch {
  trajectories: number[];
  complete: boolean;
}

export type Point = [number, number];
export type Place = [number, number, number];

export interface Polygon {
  shape: "polygon";
  points: Point[];
  color: string;
}

export interface Capsule {
  shape: "capsule";
  start: Point;
  end: Point;
  radius: number;
  color: string;
}

export interface Mesh {
  shape: "mesh";
  vertices: number[];
  faces: number[];
  color: string;
}

export type FlatShape = Polygon | Capsule;

export interface Part<Shape> {
  name: string;
  moves: boolean;
  label: string;
  shapes: Shape[];
}

export interface Window {
  kind: "window";
  left: number;
  right: number;
  bottom: number;
  top: number;
  follow: string | null;
}

export interface Camera {
  kind: "camera";
  eye: Place;
  target: Place;
  fov: number;
}

interface AnyScene {
  format: number;
  frame_time: number;
  background: string;
}

export interface FlatScene extends AnyScene {
  dimensions: 2;
  view: Window;
  parts: Part<FlatShape>[];
}

export interface SolidScene extends AnyScene {
  dimensions: 3;
  view: Camera;
  parts: Part<Mesh>[];
}

export type Scene = FlatScene | SolidScene;

export interface FeatureRange {
  name: string;
  unit: string;
  low: number;
  high: number;
}

/** What trajectories of this study look like. */
export type Display =
  | { kind: "scene"; scene: Scene; seconds: number }
  | { kind: "clips" }
  | { kind: "features"; features: FeatureRange[] };

/** x, y, angle of a flat part; x, y, z and the quaternion w, x, y, z of a solid one. */
export type Pose = number[];

export interface Replay {
  format: number;
  frame_time: number;
  poses: Pose[][];
}

export interface TrajectoryDetails {
  features: Record<string, number>;
  replay: Replay | null;
}

export interface CurvePoint {
  x: number;
  mean: number;
  low: number;
  high: number;
}

export interface FeatureEffect {
  name: string;
  unit: string;
  effect: number;
  curve: CurvePoint[];
}

export interface FeaturePair {
  x: string;
  y: string;
  xs: number[];
  ys: number[];
  mean: number[][];
  std: number[][];
}

export interface Ranked {
  rank: number;
  index: number;
  mean: number;
  std: number;
  features: Record<string, number>;
}

export interface LearningSummary {
  answers: number;
  accuracy: number;
  learning_curve: { answers: number; accuracy: number }[];
  expected_gain: number;
  hint: string;
  description: string;
  features: FeatureEffect[];
  feature_maps: FeaturePair[];
  ranking: Ranked[];
  best: number;
}

export interface PastAnswer {
  question: number;
  number: number;
  items: number[];
  choice: Choice;
  seconds: number | null;
  at: string;
  deleted: boolean;
}

export interface Finish {
  best: { index: number; mean: number; std: number };
  answers: number;
  python: string;
  description: string;
}

export interface Participant {
  label: string;
  stage: Stage | null;
  answered: number;
  total: number;
  started: string | null;
  last_seen: string | null;
  median_seconds: number | null;
  left_share: number | null;
  retest_agreement: number | null;
}

export interface StudyProgress {
  study: string;
  title: string;
  participants: Participant[];
  finished: number;
  invited: number;
}
