/** A QR code with which a phone opens this page, or how to start the server so that a phone reaches it. */

import type { JSX } from "preact";

import type { Phone } from "../api";
import { LoadingOrError } from "../components";
import { Dialog } from "../dialog";
import { useLoad } from "../hooks";
import type { Server } from "../server";

const BORDER = 4; // light squares around a code, as the standard asks for

export function PhoneDialog({ server, onClose }: { server: Server; onClose: () => void }): JSX.Element {
  const { value, problem, retry } = useLoad(() => server.get("/api/phone"), "phone");
  return (
    <Dialog title="Open on a phone" onClose={onClose}>
      {value ? <Way phone={value} /> : <LoadingOrError problem={problem} retry={retry} message="Loading…" />}
      <form method="dialog">
        <button class="button primary">Close</button>
      </form>
    </Dialog>
  );
}

function Way({ phone: { link, rows, command } }: { phone: Phone }): JSX.Element {
  if (link === null) {
    return (
      <>
        <p>Only this computer reaches the page now. To answer on a phone in the same network, stop the command in the terminal with Ctrl+C, and start it so:</p>
        <pre>
          <code>{command}</code>
        </pre>
        <p class="soft">It prints a link with a token, and this dialog then shows a code for the phone's camera. Nothing that you did is lost.</p>
      </>
    );
  }
  return (
    <>
      <p>Point the phone's camera at the code. The phone must be in the same network as this computer.</p>
      <QrCode rows={rows} label={link} />
      <p class="link-text">
        <code>{link}</code>
      </p>
      <p class="soft">Whoever has this link can answer, and see and change all your sessions, as long as the command runs.</p>
    </>
  );
}

/** Dark squares on a light ground, also where the page is dark: cameras read no others reliably. */
export function QrCode({ rows, label }: { rows: string[]; label: string }): JSX.Element {
  const size = rows.length + 2 * BORDER;
  const squares = rows.flatMap((row, y) => Array.from(row, (square, x) => (square === "1" ? `M${x + BORDER} ${y + BORDER}h1v1h-1z` : "")));
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`A QR code of ${label}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join("")} fill="#000" />
    </svg>
  );
}
