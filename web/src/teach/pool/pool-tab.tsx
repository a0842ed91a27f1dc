/** The tab with all trajectories, whose code is loaded when it is first opened. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Banner, Loading } from "../../components";
import type { TabProps } from "../tabs";

type View = (props: TabProps) => JSX.Element;

export function PoolTab(props: TabProps): JSX.Element {
  const [loaded, setLoaded] = useState<{ View: View } | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => void import("./pool-view").then(({ PoolView }) => setLoaded({ View: PoolView }), () => setFailed(true)), []);
  if (failed) return <Banner message="The pool could not be loaded. Reload the page." />;
  return loaded ? <loaded.View {...props} /> : <Loading message="Loading the pool…" />;
}
