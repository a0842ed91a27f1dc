/** Shown to people without a link, or with one that does not work. */

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
  useTitle("Sign in");
  const secret = secretFromPaste(text);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (secret && !busy) onSecret(secret);
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <img src="./favicon.svg" alt="" width="48" height="48" />
        <h1>Prefero</h1>
        <p>Open the link that you were sent, or paste it here to sign in.</p>
        {message && <p class="problem" role="alert">{message}</p>}
        <label class="field">
          Link or token
          <input type="text" value={text} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button class="button primary" disabled={!secret || busy}>Sign in</button>
      </form>
    </main>
  );
}
