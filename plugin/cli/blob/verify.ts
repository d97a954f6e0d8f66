// plugin/cli/blob/verify.ts: `blob verify`: whether all that the author has put is there as it was put.
import type { BlobClient } from "../../blobs/client/client.js";
import { LOST_WAY_OUT, lostBlob } from "../../blobs/client/missing.js";
import type { BlobState } from "../../blobs/client/newest.js";
import { receiveBlob } from "../../blobs/client/receive.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { WAY_OUT } from "../../blobs/client/verdict.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { keysNamedBy } from "./keys.js";
import { type BlobOwner, blobOwner, endingOf, sayDamaged } from "./owner.js";

/** What has come of one. */
interface Finding {
  key: string;
  state: "right" | "unproven" | "wrong" | "missing" | "unread";
  /** A clause; `null` for nothing to say. */
  why: string | null;
}

export async function verify(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob verify", args, OWN_SITE_OPTIONS);
  const signal = endingOf(terminal);
  const owner = await blobOwner(values, terminal, signal);
  const { states, damaged } = await owner.newest.list();
  sayDamaged(damaged, terminal);
  const keys = positionals.length > 0 ? await keysNamedBy(positionals, owner) : await keysOf(owner.client, states);
  const findings: Finding[] = [];
  for (const key of keys) {
    const finding = await findingOf(key, owner);
    signal.throwIfAborted();
    findings.push(finding);
    if (finding.why !== null && !values.json) terminal.print(`${shortKey(key)}: ${finding.why}`);
  }
  if (values.json) terminal.print(JSON.stringify(findings, null, 2));
  const count = (state: Finding["state"]) => findings.filter((one) => one.state === state).length;
  const bad = (["wrong", "missing", "unread"] as const).filter((state) => count(state) > 0);
  const counts = [`${count("right")} right`, `${count("unproven")} without a proof`, `${count("wrong")} wrong`];
  const others = bad.filter((state) => state !== "wrong").map((state) => `${count(state)} ${state}`);
  terminal.say(`${[...counts, ...others].join(", ")}.`);
  for (const state of bad) terminal.say(WAYS_OUT[state]);
  return bad.length + damaged.length > 0 ? 1 : 0;
}

const WAYS_OUT = {
  wrong: WAY_OUT,
  missing: LOST_WAY_OUT,
  unread: "What could not be read may be right: try again once the site answers.",
};

async function keysOf(client: BlobClient, states: readonly BlobState[]): Promise<string[]> {
  const listed = await client.list();
  const known = states.filter(({ isDeleted }) => !isDeleted);
  return [...new Set([...listed, ...known].map(({ key }) => key))].sort();
}

/** What is known of one of which there is no more than an error: it does not stop the others. */
const OF_ONE: Partial<Record<TwtxtErrorCode, Finding["state"]>> = {
  "blob-tampered": "wrong",
  "too-large": "wrong",
  "store-failed": "wrong",
  unreachable: "unread",
};

async function findingOf(key: string, { client, newest, maxBytes }: BlobOwner): Promise<Finding> {
  try {
    const coming = await client.get(key);
    if (!coming) return { key, state: "missing", why: lostBlob(await newest.get(key)) ?? "there is none" };
    const options = { newest, maxBytes, isAnyWanted: true, write: drain };
    const { proof } = await receiveBlob(coming, options);
    if (proof.state === "wrong") return { key, state: "wrong", why: proof.why };
    if (proof.state === "right") return { key, state: "right", why: null };
    return { key, state: "unproven", why: "it has no proof" };
  } catch (error) {
    const state = error instanceof TwtxtError ? OF_ONE[error.code] : undefined;
    if (state === undefined) throw error;
    return { key, state, why: (error as TwtxtError).message };
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
