/** Small parts of many views. */

import type { ComponentChildren, JSX } from "preact";

import type { Trouble } from "./desk";

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

export function Card({ title, children }: { title?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** Something went wrong, with the way out where there is one. */
export function Banner({ words, again, children }: BannerProps): JSX.Element {
  return (
    <div class="banner" role="alert">
      <p>{words}</p>
      {again && (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}

interface BannerProps {
  words: string;
  again?: (() => void) | undefined;
  children?: ComponentChildren;
}

export function TroubleBanner({ trouble }: { trouble: Trouble | null }): JSX.Element | null {
  if (!trouble) return null;
  if (trouble.kind === "away") return <Banner words={trouble.words} />;
  return (
    <Banner words={trouble.words} again={trouble.again}>
      {trouble.discard && (
        <button type="button" class="button" onClick={trouble.discard}>
          Go on without it
        </button>
      )}
    </Banner>
  );
}

export function Notice({ words }: { words: string }): JSX.Element | null {
  if (!words) return null;
  return (
    <p class="notice" role="status">
      {words}
    </p>
  );
}

export function Waiting({ words }: { words: string }): JSX.Element {
  return (
    <p class="waiting" role="status">
      {words}
    </p>
  );
}

/** What stands here while a value is fetched, or could not be. */
export function Missing({ trouble, again, words }: { trouble: string; again: () => void; words: string }): JSX.Element {
  return trouble ? <Banner words={trouble} again={again} /> : <Waiting words={words} />;
}

export function Meter({ share, label }: { share: number; label: string }): JSX.Element {
  const percent = Math.round(100 * Math.min(Math.max(share, 0), 1));
  return (
    <div class="meter" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent}>
      <div class="meter-fill" style={{ width: `${percent}%` }} />
    </div>
  );
}

export function Swatch({ colour }: { colour: string }): JSX.Element {
  return <span class="swatch" style={{ backgroundColor: colour }} aria-hidden="true" />;
}
