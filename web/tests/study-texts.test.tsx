import { render, screen } from "@testing-library/preact";
import { describe, expect, it } from "vitest";

import type { Display } from "../src/api";
import { Server } from "../src/server";
import { Instructions } from "../src/study/texts";
import type { StageProps } from "../src/study/stages";
import { Trajectories } from "../src/trajectories";

function shown(kind: Display["kind"]): string {
  const trajectories = new Trajectories(new Server(), { kind, features: [] } as unknown as Display);
  const state = { text: "You will see two examples.", choices: ["left", "right"], kinds: ["pair"], items: 2, ties: false, words: [] };
  render(<Instructions {...({ title: "A study", state, trajectories, blocked: false, onDone: () => undefined } as unknown as StageProps)} />);
  return screen.getByRole("heading", { name: "A study" }).parentElement?.textContent ?? "";
}

describe("the instructions of a study", () => {
  it("say that clips are repeated, and mention no motion where there are only features", () => {
    expect(shown("clips")).toMatch(/shown again and again/);
    document.body.replaceChildren();
    expect(shown("features")).toMatch(/A line of the table is one of their features/);
    expect(document.body.textContent).not.toMatch(/again and again|motion|moves|frame/i);
  });
});
