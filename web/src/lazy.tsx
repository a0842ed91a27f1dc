/** A view whose code is loaded when it is shown for the first time. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Banner } from "./components";

type View<Props> = (props: Props) => JSX.Element | null;

interface LazyProps<Props> {
  load: () => Promise<View<Props>>;
  props: Props;
}

export function Lazy<Props extends object>({ load, props }: LazyProps<Props>): JSX.Element | null {
  const [Loaded, setLoaded] = useState<View<Props> | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => void load().then((view) => setLoaded(() => view), () => setFailed(true)), []);
  if (failed) return <Banner message="This part of the page could not be loaded. Load the page again." />;
  return Loaded && <Loaded {...props} />;
}
