import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";

import type { Display } from "../src/api";
import { WhyNoVideos } from "../src/teach/why-no-videos";

const display: Display = { kind: "features", features: [], task_description: "", subject: "", no_video: "Slide-v3 cannot be rendered: pygame is missing" };

afterEach(cleanup);

describe("a session without videos", () => {
  it("says why, where there could be some", () => {
    render(<WhyNoVideos display={display} />);
    expect(screen.getByText("There are no videos: Slide-v3 cannot be rendered: pygame is missing.")).toBeTruthy();
  });

  it("says nothing for a table, and where there are videos", () => {
    render(<WhyNoVideos display={{ ...display, no_video: "" }} />);
    render(<WhyNoVideos display={{ ...display, kind: "clips" }} />);
    expect(screen.queryByText(/no videos/)).toBeNull();
  });
});
