import type { lookup as systemLookup } from "node:dns";

/** @returns a function that allows the connections again, once every caller has called theirs */
export function refuseStrangers(): () => void;

/** Resolves only `localhost` and addresses. */
export const lookup: typeof systemLookup;
