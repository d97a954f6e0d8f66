// plugin/mentions/networks/account-faults.ts: accounts that a network refuses, such as after a token was revoked.
import * as v from "valibot";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { NetworkName } from "./network.js";

export const FAULTS = "networks/faults";
/** By network: why. */
const AccountFaults = v.record(v.string(), v.string());
export type AccountFaults = v.InferOutput<typeof AccountFaults>;

/** @param why - `null` after the network has accepted the account */
export async function noteFault(store: Store, network: NetworkName, why: string | null): Promise<void> {
  await update(store, FAULTS, AccountFaults, (old) => {
    const { [network]: before = null, ...others } = old ?? {};
    return before === why ? null : { ...others, ...(why !== null && { [network]: why }) };
  });
}

/** The accounts that their networks refuse, with the reason. */
export async function readFaults(store: Store): Promise<AccountFaults> {
  return (await readJson(store, FAULTS, AccountFaults))?.value ?? {};
}
