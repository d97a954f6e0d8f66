// plugin/options/fediverse.ts: the option `fediverse`.
import { text } from "./value-types.js";

/** The value of the option for Bridgy Fed, which makes an account of the site itself. */
export const BRIDGY = "bridgy";

const HANDLE = /^@(?<user>[A-Za-z0-9_.-]{1,64})@(?<server>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?)$/;

/** @example parseHandle("@alice@mastodon.example") // { user: "alice", server: "mastodon.example" } */
export function parseHandle(handle: string): { user: string; server: string } | null {
  const { user, server } = HANDLE.exec(handle)?.groups ?? {};
  return user === undefined || server === undefined ? null : { user, server };
}

export const FEDIVERSE = text(
  (value) => value === BRIDGY || parseHandle(value) !== null,
  `a handle such as "@alice@mastodon.example", or "${BRIDGY}"`,
);
