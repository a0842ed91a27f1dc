/** The features of a question's items beside the clips, for a teacher who wants to see numbers. */

import type { JSX } from "preact";

import { Banner, Loading } from "../components";
import { useLoad } from "../hooks";
import type { Signals } from "../signals";
import { ComparedFeatures } from "./signal-charts";

interface ValuesProps {
  signals: Signals | null;
  indices: number[];
}

export function Values({ signals, indices }: ValuesProps): JSX.Element | null {
  return signals?.values.value ? <ValuesPanel signals={signals} indices={indices} /> : null;
}

function ValuesPanel({ signals, indices }: { signals: Signals; indices: number[] }): JSX.Element {
  const key = indices.join();
  const { value, problem, retry } = useLoad(async () => ({ key, items: await signals.load(indices) }), key);
  const items = value?.key === key ? value.items : signals.peek(indices);
  return (
    <section class="values" aria-label="Values of the features" aria-busy={items === null}>
      {problem && <Banner message={problem} retry={retry} />}
      {items ? <ComparedFeatures items={items} /> : !problem && <Loading message="Loading the values…" />}
    </section>
  );
}
