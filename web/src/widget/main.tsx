/** The entry point of the widget, which anywidget calls for each place of a notebook where the widget is shown. */

import { render } from "preact";

import { Server } from "../server";
import style from "../style/widget.css?inline";
import { Kernel, type KernelModel } from "./kernel";
import { keepKeys } from "./notebook-keys";
import { followTheme } from "./theme";
import { Widget } from "./widget";

const NOT_RESPONDING = "The kernel is busy, or it was stopped. If it was stopped, run the cell again.";

/** In a shadow tree: the styles of the notebook do not reach the widget, nor those of the widget the notebook. */
function show({ model, el }: { model: KernelModel; el: HTMLElement }): () => void {
  const kernel = new Kernel(model);
  const host = el.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  root.appendChild(document.createElement("style")).textContent = style;
  const place = root.appendChild(document.createElement("div"));
  const undo = [keepKeys(host), followTheme(host), () => kernel.close(), () => render(null, place), () => host.remove()];
  const server = new Server(undefined, kernel.fetch, NOT_RESPONDING);
  render(<Widget server={server} clipSource={kernel.clip} />, place);
  return () => undo.reverse().forEach((step) => step());
}

export default { render: show };
