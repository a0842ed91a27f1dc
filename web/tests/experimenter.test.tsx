import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";

import type { ParticipantProgress } from "../src/api";
import { ParticipantTable } from "../src/experimenter/experimenter";

afterEach(cleanup);

function participant(label: string, careless_signs: ParticipantProgress["careless_signs"]): ParticipantProgress {
  const at = "2026-01-01T00:00:00.000Z";
  const numbers = { answered: 50, total: 50, median_seconds: 0.5, left_fraction: 0.5, retest_agreement: null };
  return { label, stage: "done", started: at, last_seen: at, ...numbers, careless_signs };
}

it("marks careless participants and says why", () => {
  const hurried = participant("P2", [{ kind: "fast", reason: "50 of 50 answers came in less than 1 s" }]);
  render(<ParticipantTable participants={[participant("P1", []), hurried]} now={0} />);
  expect(screen.getAllByText("careless?").map((mark) => mark.parentElement?.textContent)).toEqual(["P2careless?"]);
  expect(screen.getByRole("listitem").textContent).toBe("P2, fast: 50 of 50 answers came in less than 1 s.");
});

it("does not mention carelessness without signs of it", () => {
  render(<ParticipantTable participants={[participant("P1", [])]} now={0} />);
  expect(screen.queryByText(/careless/i)).toBeNull();
});

it("names the column of every value, which a phone shows beside it", () => {
  render(<ParticipantTable participants={[participant("P1", [])]} now={0} />);
  const heads = screen.getAllByRole("columnheader").map((head) => head.textContent);
  const cells = screen.getAllByRole("cell").map((cell) => cell.getAttribute("data-column"));
  expect(["Participant", ...cells]).toEqual(heads);
});
