// plugin/keys/address.ts: where others look for the key of `user@domain`.
import { createHash } from "node:crypto";

/** The path segments of discovery: the specification's own, and the one that peers know. */
const SEGMENTS = ["msg", "salty"] as const;

/**
 * The paths under which an address's document is looked for.
 *
 * @param address - `user@domain`, in lower case
 * @returns four paths from the root of the domain: plain and hashed name under both segments
 * @see PROTOCOL 3.1
 */
export function discoveryPaths(address: string): string[] {
  const user = address.slice(0, address.indexOf("@"));
  const hashed = createHash("sha256").update(address).digest("hex");
  return SEGMENTS.flatMap((segment) => [user, hashed].map((name) => `/.well-known/${segment}/${name}.json`));
}
