import { afterEach, describe, expect, it } from "vitest";

import { Latest } from "../src/teach/latest";
import { currentOf } from "../src/teach/jump-menu";
import { listenForPlays, makeFocusable, makePlayable, nearestMark, type Play } from "../src/teach/playable";

const SVG = "http://www.w3.org/2000/svg";
const places = [10, 30, 90].map((x) => ({ mark: document.createElementNS(SVG, "circle"), x, y: x }));

describe("a click", () => {
  it("means the nearest mark that it nearly hits", () => {
    expect(nearestMark(places, 26, 34, "near")).toBe(places[1]?.mark);
    expect(nearestMark(places, 60, 60, "near")).toBeNull();
  });

  it("means the nearest one anywhere where the chart says so, in a curve by x alone", () => {
    expect(nearestMark(places, 65, 65, "any")).toBe(places[2]?.mark);
    expect(nearestMark(places, 12, 90, "any")).toBe(places[1]?.mark);
    expect(nearestMark(places, 12, 90, "x")).toBe(places[0]?.mark);
    expect(nearestMark([], 0, 0, "any")).toBeNull();
  });
});

describe("marks that play", () => {
  afterEach(() => document.body.replaceChildren());

  it("are one stop of Tab, and are chosen with arrow keys and Enter", () => {
    const box = document.createElement("div");
    const [chart, group] = [document.createElementNS(SVG, "svg"), document.createElementNS(SVG, "g")];
    group.setAttribute("class", "dots");
    const dots = [0, 1, 2].map(() => document.createElementNS(SVG, "circle"));
    dots.forEach((dot, i) => {
      dot.getBoundingClientRect = () => ({ left: 10 * i, right: 10 * i, top: 0, bottom: 0 }) as DOMRect;
    });
    group.append(...dots);
    chart.append(group);
    box.append(chart);
    document.body.append(box);
    makePlayable(chart, "dots", dots.map((_, i) => ({ play: { trajectory: 7 + i }, title: `no. ${7 + i}` })));
    makeFocusable(box);
    const played: Play[] = [];
    listenForPlays(box, () => (play) => void played.push(play));
    expect(dots.map((dot) => dot.getAttribute("tabindex"))).toEqual(["0", "-1", "-1"]);
    const press = (key: string): unknown => document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    dots[0]?.focus();
    for (const key of ["ArrowRight", "Enter", "End", " "]) press(key);
    expect(played).toEqual([{ trajectory: 8 }, { trajectory: 9 }]);
    expect(dots.map((dot) => dot.getAttribute("tabindex"))).toEqual(["-1", "-1", "0"]);
    expect(dots[2]?.querySelector("title")?.textContent).toBe("no. 9");
  });
});

describe("requests while a slider moves", () => {
  it("are sent one at a time, and the last one always", async () => {
    const [sent, answers, waiting]: [number[], number[], (() => void)[]] = [[], [], []];
    const latest = new Latest(
      (question: number) => {
        sent.push(question);
        return new Promise<number>((resolve) => waiting.push(() => resolve(question)));
      },
      (answer) => answers.push(answer),
      () => undefined,
    );
    for (const question of [1, 2, 3, 4]) latest.ask(question);
    expect(sent).toEqual([1]);
    while (waiting.length > 0) {
      waiting.shift()?.();
      await new Promise((resolve) => setTimeout(resolve));
    }
    expect(sent).toEqual([1, 4]);
    expect(answers).toEqual([1, 4]);
  });
});

describe("the present section", () => {
  it("is the last one that begins in the upper part of the window", () => {
    const tops = [["a", -900], ["b", 200], ["c", 700]] as const; // prettier-ignore
    expect(currentOf(tops, 800)).toBe("b");
    expect(currentOf([["a", 500]], 800)).toBe("a");
    expect(currentOf([], 800)).toBe("");
  });
});
