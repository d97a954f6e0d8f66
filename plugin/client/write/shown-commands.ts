// plugin/client/write/shown-commands.ts: what the author agrees to.
import type { Publication } from "../../author/publish.js";

/** The commands that a page shows, with the earlier commits that they publish, for comparison before they are run. */
export function shownOf({ commands, earlier, remote }: Publication): string {
  return JSON.stringify([commands.map(({ shown }) => shown), earlier, remote]);
}
