/** The scores that the participant gave the targets, in view while they answer. */

import type { JSX } from "preact";

import type { OwnScore } from "../api";
import { Swatch } from "../components";

export function OwnScores({ scores }: { scores: OwnScore[] }): JSX.Element {
  return (
    <div class="own-scores">
      <span class="own-scores-title">Your scores</span>
      <ul>
        {scores.map(({ label, color, score }) => (
          <li key={label}>
            <Swatch color={color} /> {label} <strong>{score}</strong>
          </li>
        ))}
      </ul>
    </div>
  );
}
