/** The HTTP API: the generated types, names for some of them, and requests and responses by path. */

import type {
  AnswerOrSkip,
  FlatPart,
  paths,
  Replay,
  SceneDisplay,
  SessionState,
  StageSubmission,
} from "./api-types";

export type * from "./api-types";

export type Stage = SessionState["stage"];
export type SubmittedStage = StageSubmission["stage"];
export type StageData = NonNullable<StageSubmission["data"]>;
export type AnswerKind = AnswerOrSkip["kind"]; // a choice, or "skip"
export type Display = ResponseBody<"get", "/api/display">;
export type Scene = SceneDisplay["scene"];
export type FlatShape = FlatPart["shapes"][number];
export type Pose = Replay["poses"][number][number];
export type Point = [number, number];

type Method = "get" | "post";
interface Json<Body> {
  content: { "application/json": Body };
}

/** The paths that a method can be used on and that return JSON. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: { 200: Json<unknown> } }> ? P : never;
}[keyof paths];

export type ResponseBody<M extends Method, P extends PathOf<M>> =
  paths[P] extends Record<M, { responses: { 200: Json<infer Body> } }> ? Body : never;

export type RequestBody<P extends PathOf<"post">> =
  paths[P] extends { post: { requestBody: Json<infer Body> } } ? Body : Record<string, never>;

/** Files that can be downloaded. */
export type ExportPath = Extract<keyof paths, `/api/export/${string}`>;

/** The parameters in a path, `{index}` for example, or in the query after it: one argument if there are any. */
export type PathParameters<P extends PathOf<"get">> =
  paths[P] extends { get: { parameters: { path: infer Parameters extends object } } } ? [Parameters] : QueryOf<P>;

type QueryOf<P extends PathOf<"get">> =
  paths[P] extends { get: { parameters: { query?: infer Query } } } ? ([Query] extends [never] ? [] : [Query?]) : [];

/** What a search for trajectories of the pool can say. */
export type PoolSearch = NonNullable<PathParameters<"/api/pool">[0]>;

/** Requests that return the session's state, and carry a key, so that sending them twice is harmless. */
export type SessionPath = {
  [P in PathOf<"post">]: ResponseBody<"post", P> extends SessionState ? P : never;
}[PathOf<"post">];
