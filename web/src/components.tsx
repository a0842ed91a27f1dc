/** Small components that many views use. */

import type { ComponentChildren, JSX } from "preact";

import type { Problem } from "./session";

export function Paragraphs({ text }: { text: string | null }): JSX.Element {
  const paragraphs = (text ?? "").split(/\n\s*\n/).filter((paragraph) => paragraph.trim());
  return (
    <div class="prose">
      {paragraphs.map((paragraph, i) => (
        <p key={i}>{paragraph}</p>
      ))}
    </div>
  );
}

/** With a title it has an id, by which a menu finds it. */
export function Card({ title, children }: { title?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card" {...(title !== undefined && { id: slug(title) })}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** A title as part of an address: "What matters" is what-matters. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}

/** An error message, with a button to try again where that may help. */
export function Banner({ message, retry, children }: BannerProps): JSX.Element {
  return (
    <div class="banner" role="alert">
      <p>{message}</p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}

interface BannerProps {
  message: string;
  retry?: (() => void) | undefined;
  children?: ComponentChildren;
}

export function ProblemBanner({ problem }: { problem: Problem | null }): JSX.Element | null {
  if (!problem) return null;
  if (problem.kind === "unavailable") return <Banner message={problem.message} />;
  return (
    <Banner message={problem.message} retry={problem.retry}>
      {problem.discard && (
        <button type="button" class="button" onClick={problem.discard}>
          Discard it and continue
        </button>
      )}
    </Banner>
  );
}

export function Notice({ message }: { message: string }): JSX.Element | null {
  if (!message) return null;
  return (
    <p class="notice" role="status">
      {message}
    </p>
  );
}

export function Loading({ message }: { message: string }): JSX.Element {
  return (
    <p class="loading" role="status">
      {message}
    </p>
  );
}

/** Shown while a value is loading, or after it could not be loaded. */
export function LoadingOrError({ problem, retry, message }: { problem: string; retry: () => void; message: string }): JSX.Element {
  return problem ? <Banner message={problem} retry={retry} /> : <Loading message={message} />;
}

/** Which trajectory it is: its id or file name, if it has one, and its index in the pool. */
export function TrajectoryName({ index, id }: { index: number; id: string | null }): JSX.Element {
  if (id === null || id === String(index)) return <span class="trajectory-name">no. {index}</span>;
  return (
    <span class="trajectory-name">
      {id} <span class="soft">no. {index}</span>
    </span>
  );
}

export function Meter({ fraction, label }: { fraction: number; label: string }): JSX.Element {
  const percent = Math.round(100 * Math.min(Math.max(fraction, 0), 1));
  return (
    <div class="meter" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent}>
      <div class="meter-fill" style={{ width: `${percent}%` }} />
    </div>
  );
}

export function Swatch({ color }: { color: string }): JSX.Element {
  return <span class="swatch" style={{ backgroundColor: color }} aria-hidden="true" />;
}
