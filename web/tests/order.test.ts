import { describe, expect, it } from "vitest";

import { completed, movedTo, NOTHING, placesOf, rankingWord, tieToggled, toggled } from "../src/compare/order";

describe("a ranking", () => {
  it("takes items in the order of their taps, and completes itself with the last one", () => {
    const one = toggled(NOTHING, 2, false);
    expect(completed(one, 3, false).items).toEqual([2]);
    expect(toggled(one, 2, false).items).toEqual([]);
    const two = toggled(one, 0, false);
    expect(rankingWord(completed(two, 3, false))).toBe("3>1>2");
    expect(rankingWord(completed(two, 3, true))).toBe("3>1=2");
    const three = toggled(two, 1, false); // the last one too
    expect(rankingWord(completed(three, 3, false))).toBe("3>1>2");
    expect(rankingWord(completed(toggled(three, 1, false), 3, false))).toBe("3>1>2");
    expect(rankingWord(completed(toggled(three, 2, false), 3, false))).toBe("1>2>3");
  });

  it("joins items that are about equal", () => {
    const order = { items: [1, 0, 2], tied: [false, false, false] };
    expect(rankingWord(tieToggled(order, 2))).toBe("2>1=3");
    expect(rankingWord(tieToggled(order, 0))).toBe("2>1>3");
    expect(placesOf(tieToggled(order, 1), 3)).toEqual([1, 1, 3]);
    expect(placesOf({ items: [1], tied: [false] }, 3)).toEqual([null, 1, null]);
  });

  it("moves an item to another place, alone", () => {
    const order = { items: [1, 0, 2], tied: [false, true, false] };
    expect(rankingWord(movedTo(order, 2, 0))).toBe("3>2=1");
    expect(rankingWord(movedTo(order, 1, 2))).toBe("1>3>2");
    expect(movedTo(NOTHING, 3, 9).items).toEqual([3]);
  });
});
