/** Where people land who have no link, or one that does not work. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { secretFromPaste } from "./auth";
import { useTitle } from "./hooks";

interface SignInProps {
  message: string;
  busy: boolean;
  onSecret: (secret: string) => void;
}

export function SignInPage({ message, busy, onSecret }: SignInProps): JSX.Element {
  const [text, setText] = useState("");
  useTitle("Welcome");
  const secret = secretFromPaste(text);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (secret && !busy) onSecret(secret);
  };
  return (
    <main class="entry">
      <form class="card" onSubmit={submit}>
        <img src="./favicon.svg" alt="" width="48" height="48" />
        <h1>Prefero</h1>
        <p>Robots learn here what people want. To come in you need a link or a token: open the link that you were sent, or paste it here.</p>
        {message && <p class="problem" role="alert">{message}</p>}
        <label class="field">
          Link or token
          <input type="text" value={text} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button class="button primary" disabled={!secret || busy}>Come in</button>
      </form>
    </main>
  );
}
