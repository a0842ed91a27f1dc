/** Why the last answer was given: a few likely reasons, of which the person may name one, or none. */

import type { JSX } from "preact";

import type { OfferedReasons } from "../api";
import { useKeys } from "../hooks";
import { REASON_KEYS } from "../keys";
import { keepFocus } from "../player/controls";

interface ReasonsProps {
  offered: OfferedReasons;
  confirmed: boolean; // what was answered stands before this, on the same line
  onReason: ((feature: string) => void) | undefined; // name it, or take it back
}

export function Reasons({ offered, confirmed, onReason }: ReasonsProps): JSX.Element {
  const shown = REASON_KEYS.flatMap((key, i) => offered.reasons.slice(i, i + 1).map((reason) => ({ ...key, ...reason })));
  useKeys(Object.fromEntries(shown.map(({ command, feature }) => [command, () => onReason?.(feature)])));
  return (
    <div class="reasons" role="group" aria-label="Why you answered so, if you like to say">
      <span class="reasons-lead">{confirmed ? "Because of" : "Your last answer was because of"}</span>
      {shown.map(({ feature, better, labels }) => (
        <button
          key={feature}
          type="button"
          class="reason"
          aria-pressed={offered.named === feature}
          title={`${better} ${feature}`}
          onClick={() => onReason?.(feature)}
          onMouseDown={keepFocus}
        >
          <span class="reason-name">
            {better} {feature}
          </span>{" "}
          <kbd class="hint" aria-hidden="true">
            {labels}
          </kbd>
        </button>
      ))}
    </div>
  );
}
