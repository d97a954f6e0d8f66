// plugin/cli/blob/verify.ts: `blob verify`: whether all that the author has put is there as it was put.

import type { BlobClient } from "../../blobs/client/client.js";
import { lostBlob } from "../../blobs/client/missing.js";
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
  state: "right" | "unproven" | "wrong";
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
  terminal.say(`${count("right")} right, ${count("unproven")} without a proof, ${count("wrong")} wrong.`);
  if (count("wrong") > 0) terminal.say(WAY_OUT);
  return count("wrong") + damaged.length > 0 ? 1 : 0;
}

async function keysOf(client: BlobClient, states: readonly BlobState[]): Promise<string[]> {
  const listed = await client.list();
  const known = states.filter(({ isDeleted }) => !isDeleted);
  return [...new Set([...listed, ...known].map(({ key }) => key))].sort();
}

const OF_ONE: readonly TwtxtErrorCode[] = ["blob-tampered", "too-large", "unreachable", "store-failed"];

/** What is wrong with one does not stop the others. */
async function findingOf(key: string, { client, newest, maxBytes }: BlobOwner): Promise<Finding> {
  try {
    const coming = await client.get(key);
    if (!coming) return { key, state: "wrong", why: lostBlob(await newest.get(key)) ?? "there is none" };
    const options = { newest, maxBytes, isAnyWanted: true, write: drain };
    const { proof } = await receiveBlob(coming, options);
    if (proof.state === "wrong") return { key, state: "wrong", why: proof.why };
    if (proof.state === "right") return { key, state: "right", why: null };
    return { key, state: "unproven", why: "it has no proof" };
  } catch (error) {
    if (!(error instanceof TwtxtError) || !OF_ONE.includes(error.code)) throw error;
    return { key, state: "wrong", why: error.message };
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
