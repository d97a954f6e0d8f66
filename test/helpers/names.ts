// test/helpers/names.ts: a DNS lookup that knows only some names.
import type { LookupAddress } from "node:dns";
import type { GuardOptions } from "../../plugin/http/guard.js";

/** The addresses of host names; all other names are unknown. */
export function names(addresses: Record<string, string[]>): NonNullable<GuardOptions["lookup"]> {
  const resolve = (name: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) => {
    const found: LookupAddress[] = (addresses[name] ?? []).map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    if (found.length === 0)
      callback(Object.assign(new Error(`ENOTFOUND ${name}`), { code: "ENOTFOUND", hostname: name }));
    else if (options.all) callback(null, found);
    else callback(null, found[0]?.address, found[0]?.family);
  };
  return resolve as never;
}
