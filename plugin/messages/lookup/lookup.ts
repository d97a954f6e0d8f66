// plugin/messages/lookup/lookup.ts: from an address to the key and the inbox of whoever has it.
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";
import { isPublicAddress } from "../../http/public-address.js";
import { discoveryPaths, parseAddress } from "../../keys/address.js";
import { askDocument, type Document, type DocumentNetwork, isPlain, type Miss } from "./document.js";

/** What was found for an address. */
export interface Found extends Document {
  /** `user@domain`, in lower case. */
  address: string;
  /** Whether DNS led to it: then it never replaces a key that is pinned. */
  byDns: boolean;
}

/** How an address is looked up. */
export interface LookupNetwork extends DocumentNetwork {
  /**
   * The targets of a SRV record, the first one to be asked first. Rejects as node:dns does, with a `code`. Without it DNS
   * is not asked.
   */
  resolveSrv?: (name: string) => Promise<readonly { name: string }[]>;
  /** For one address, all its documents and hosts together, in milliseconds; default 20,000. */
  addressMs?: number;
}

export type Lookup = (address: string) => Promise<Found>;

const MAX_TARGETS = 3;
/** Whoever writes to us chooses whom we ask: up to sixteen documents, each of which may just not be too late. */
const ADDRESS_MS = 20_000;
/** How many addresses are looked up at once. */
const CONCURRENCY = 8;
/** What node:dns says where there is no such record. */
const NO_RECORD = ["ENOTFOUND", "ENODATA"];

/**
 * Looks an address up.
 *
 * A host that does not answer is not asked for its other documents. Only where the domain itself has none, the targets of
 * SRV `_salty._tcp.<domain>` are asked.
 *
 * @param address - `user@domain`, in any case
 * @throws TwtxtError `bad-address`; `address-refused` for a domain that is none of the public network; `no-such-address` where the hosts in question have answered and have no right document;
 *   `unreachable` where they gave no answer, or 429 or 5xx. The message says of each step what was wrong
 * @see PROTOCOL 3.1
 */
export async function lookup(address: string, { addressMs = ADDRESS_MS, ...options }: LookupNetwork): Promise<Found> {
  const known = parseAddress(address);
  if (known === null) {
    throw new TwtxtError(
      "bad-address",
      `expected an address such as "bob@bob.example", got ${JSON.stringify(address.slice(0, 80))}.`,
    );
  }
  const domain = known.slice(known.indexOf("@") + 1);
  checkHost(domain, options.plainHosts ?? []);
  const network = { ...options, signal: AbortSignal.timeout(addressMs) };
  const own = await search(domain, known, network);
  if (own.document) return { ...own.document, address: known, byDns: false };

  const dns = await targetsOf(domain, network);
  const others: Searched[] = [];
  for (const target of dns.targets) {
    const other = await search(target, known, network);
    if (other.document) return { ...other.document, address: known, byDns: true };
    others.push(other);
  }
  throw failure(known, own, others, dns.remark);
}

/** What is plain from the domain needs no question: the guard would refuse it, and that it has no document is not known. */
function checkHost(domain: string, plainHosts: readonly string[]): void {
  const name = domain.replace(/:\d+$/, "");
  const isPrivate = isAddressOfNetwork(name) ? !isPublicAddress(name.replace(/^\[|\]$/g, "")) : name === "localhost";
  if (!isPrivate || isPlain(domain, plainHosts)) return;
  throw new TwtxtError("address-refused", `${domain} is not asked: its address is not a public one.`);
}

/**
 * Looks each address up once, a failure too, and not all of them at once: for one run, in which many messages claim the
 * same senders.
 */
export function lookupOnce(look: Lookup): Lookup {
  const answers = new Map<string, Promise<Found>>();
  const queue = new PQueue({ concurrency: CONCURRENCY });
  return (address) => {
    const answer = answers.get(address) ?? queue.add(() => look(address));
    answers.set(address, answer);
    return answer;
  };
}

/** What came of asking one host. */
interface Searched {
  host: string;
  document: Document | null;
  misses: (Miss & { path: string })[];
}

async function search(host: string, address: string, network: LookupNetwork): Promise<Searched> {
  const misses: Searched["misses"] = [];
  const root = `${isPlain(host, network.plainHosts ?? []) ? "http" : "https"}://${host}`;
  for (const path of discoveryPaths(address)) {
    const answer = await askDocument(root + path, network);
    if (!("kind" in answer)) return { host, document: answer, misses };
    misses.push({ ...answer, path });
    // The other documents would be waited for as long, and in vain.
    if (answer.kind === "silent") break;
  }
  return { host, document: null, misses };
}

async function targetsOf(
  domain: string,
  { resolveSrv }: LookupNetwork,
): Promise<{ targets: string[]; remark: string }> {
  const name = domain.replace(/:\d+$/, "");
  if (!resolveSrv) return { targets: [], remark: "DNS was not asked for another host" };
  if (isAddressOfNetwork(name)) return { targets: [], remark: "it is no name by which DNS could name another host" };
  try {
    const records = await resolveSrv(`_salty._tcp.${name}`);
    const targets = new Set(records.flatMap((record) => hostOf(record.name) ?? []));
    targets.delete(domain);
    return { targets: [...targets].slice(0, MAX_TARGETS), remark: "DNS names no other host" };
  } catch (error) {
    const code = String(Object(error).code);
    if (NO_RECORD.includes(code)) return { targets: [], remark: "DNS names no other host" };
    const why = /^[A-Z]+$/.test(code) ? ` (${code})` : "";
    return { targets: [], remark: `DNS did not say whether there is another host${why}` };
  }
}

function isAddressOfNetwork(host: string): boolean {
  return /^(\[.*\]|[\d.]+)$/.test(host);
}

/** @returns `null` for what no host is called, such as `.`, by which DNS says that there is none */
function hostOf(target: string): string | null {
  const address = parseAddress(`x@${target.replace(/\.$/, "")}`);
  return address === null || address.includes(":") ? null : address.slice(2);
}

/** The hosts in question are those that DNS names, where it names any: the domain may then be no web server at all. */
function failure(address: string, own: Searched, others: Searched[], remark: string): TwtxtError {
  const inQuestion = others.length > 0 ? others : [own];
  const isFinal = inQuestion.some(({ misses }) => misses.every(({ kind }) => kind === "none"));
  const steps = [own, ...others].map(sentence).join("; ");
  const rest = others.length > 0 ? "" : `; ${remark}`;
  return isFinal
    ? new TwtxtError("no-such-address", `${address} has no document: ${steps}${rest}.`)
    : new TwtxtError("unreachable", `${address} could not be looked up: ${steps}${rest}.`);
}

function sentence({ host, misses }: Searched): string {
  const silent = misses.find(({ kind }) => kind === "silent");
  if (silent) return `${host} did not answer (${silent.why})`;
  const [why = "", ...others] = new Set(misses.map((miss) => miss.why));
  if (others.length === 0) return `each of the ${misses.length} places on ${host} ${why}`;
  return `on ${host} ${misses.map((miss) => `${shortened(miss.path)} ${miss.why}`).join(", ")}`;
}

function shortened(path: string): string {
  return path.replace(/[0-9a-f]{64}/, "<hash>");
}
