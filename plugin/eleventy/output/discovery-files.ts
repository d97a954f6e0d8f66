// plugin/eleventy/output/discovery-files.ts: the discovery documents, which lead from an address to its key and inbox.
import { authorError } from "../../errors.js";
import type { Inbox } from "../site-urls.js";
import type { SiteFile } from "./write-files.js";

/**
 * The discovery documents of the authors; none for an author without an inbox.
 *
 * @throws TwtxtError `bad-option` for an invalid key
 * @see PROTOCOL 3.1
 */
export async function discoveryFiles(inboxes: readonly Inbox[]): Promise<SiteFile[]> {
  if (inboxes.length === 0) return [];
  const [{ parseKey }, { discoveryPaths }] = await Promise.all([
    import("../../keys/key.js"),
    import("../../keys/address.js"),
  ]);
  return inboxes.flatMap(({ address, key, endpoint }) => {
    try {
      parseKey(key);
    } catch (cause) {
      throw authorError("bad-option", `options.key of ${address}: ${(cause as Error).message}`, { cause });
    }
    if (endpoint === null) return [];
    const content = `${JSON.stringify({ endpoint, key })}\n`;
    return discoveryPaths(address).map((path) => ({ path, content }));
  });
}
