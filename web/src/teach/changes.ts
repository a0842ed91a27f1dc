/** Windows of one browser tell each other that the settings of a session were changed. */

const CHANNEL = "prefero.settings";

export function announceChange(session: string | null): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(session);
  channel.close();
}

/** `load` when another window has changed this session. */
export function onChange(session: string | null, load: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data === session) load();
  };
  return () => channel.close();
}
