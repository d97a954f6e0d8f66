// plugin/messages/lookup/lookup.ts: looks up the key and inbox of an address.
import { Resolver } from "node:dns/promises";
import { TwtxtError } from "../../errors.js";
import { isPublicAddress, PrivateAddressError } from "../../http/public-address.js";
import { discoveryPaths, parseAddress, readDomain } from "../../keys/address.js";
import { readGuestKey } from "../../keys/guest.js";
import { askDocument, type Document, type DocumentNetwork, isPlain, type Miss } from "./document.js";

/** The result of a lookup. */
export interface Found extends Document {
  /** `user@domain`, in lower case. */
  address: string;
  /** Whether it was found through DNS. It then never replaces a pinned key. */
  byDns: boolean;
}

export interface LookupNetwork extends DocumentNetwork {
  /**
   * Resolves a SRV record to its targets, in the order to ask them. Rejects as node:dns does, with a `code`. Without it,
   * DNS is not used.
   */
  resolveSrv?: (name: string) => Promise<readonly { name: string }[]>;
}

export type Lookup = (address: string) => Promise<Found>;

const MAX_TARGETS = 3;
/** Limit of one lookup. Senders choose which hosts are asked: up to sixteen documents, and each may be slow. */
const ADDRESS_MS = 20_000;
/** For each of two tries per DNS server. */
const DNS_TIMEOUT_MS = 2000;
/** The codes of node:dns for a missing record. */
const NO_RECORD = ["ENOTFOUND", "ENODATA"];

/**
 * Looks up an address.
 *
 * A host that does not answer is not asked for its other documents. If the domain has no document, the targets of SRV
 * `_salty._tcp.<domain>` are asked.
 *
 * @param address - `user@domain`, in any case
 * @throws TwtxtError `bad-address`; `address-refused` for a domain outside the public network; `no-such-address` if the
 *   hosts answered without a valid document; `unreachable` for no answer, 429 or 5xx. The message describes each step.
 *   `not-authentic` for a guest's document with another key than the address
 * @see PROTOCOL 3.1, 3.5
 */
export async function lookup(address: string, options: LookupNetwork): Promise<Found> {
  const known = parseAddress(address);
  if (known === null) {
    throw new TwtxtError(
      "bad-address",
      `expected an address such as "bob@bob.example", got ${JSON.stringify(address.slice(0, 80))}.`,
    );
  }
  const domain = readDomain(known);
  checkHost(domain, options.plainHosts ?? []);
  const network = { ...options, signal: AbortSignal.timeout(ADDRESS_MS) };
  const own = await search(domain, known, network);
  if (own.document) return { ...own.document, address: known, byDns: false };

  const dns = await findTargets(domain, network);
  const others: HostResult[] = [];
  for (const target of dns.targets) {
    const other = await search(target, known, network);
    if (other.document) return { ...other.document, address: known, byDns: true };
    others.push(other);
  }
  throw failure(known, own, others, dns.remark);
}

/** Refuses private domains before asking: a refusal by the guard would read as a missing document. */
function checkHost(domain: string, plainHosts: readonly string[]): void {
  const name = domain.replace(/:\d+$/, "");
  const isPrivate = isAddressOfNetwork(name) ? !isPublicAddress(name.replace(/^\[|\]$/g, "")) : name === "localhost";
  if (!isPrivate || isPlain(domain, plainHosts)) return;
  throw new PrivateAddressError(
    `${domain} was not asked, because its address is not public.`,
    /:\d+$/.test(domain) ? domain : `${domain}:443`,
  );
}

interface HostResult {
  host: string;
  document: Document | null;
  misses: (Miss & { path: string })[];
}

async function search(host: string, address: string, network: LookupNetwork): Promise<HostResult> {
  const misses: HostResult["misses"] = [];
  const root = `${isPlain(host, network.plainHosts ?? []) ? "http" : "https"}://${host}`;
  for (const path of discoveryPaths(address)) {
    const answer = await askDocument(root + path, network);
    if (!("kind" in answer)) {
      checkGuestKey(address, answer);
      return { host, document: answer, misses };
    }
    misses.push({ ...answer, path });
    // The host would not answer for its other documents either.
    if (answer.kind === "silent") break;
  }
  return { host, document: null, misses };
}

/** The address of a guest is its key. PROTOCOL 3.5 */
function checkGuestKey(address: string, { key, url }: Document): void {
  const own = readGuestKey(address);
  if (own === null || own === key) return;
  throw new TwtxtError(
    "not-authentic",
    `${url} is forged: it names the key ${key}, but the address of a guest is its key.`,
  );
}

async function findTargets(domain: string, { resolveSrv }: LookupNetwork) {
  const name = domain.replace(/:\d+$/, "");
  if (!resolveSrv) return { targets: [], remark: "DNS was not asked for another host" };
  if (isAddressOfNetwork(name)) return { targets: [], remark: "DNS has no records for a bare IP address" };
  try {
    const records = await resolveSrv(`_salty._tcp.${name}`);
    const targets = new Set(records.flatMap((record) => readHost(record.name) ?? []));
    targets.delete(domain);
    return { targets: [...targets].slice(0, MAX_TARGETS), remark: "DNS names no other host" };
  } catch (error) {
    const code = String(Object(error).code);
    if (NO_RECORD.includes(code)) return { targets: [], remark: "DNS names no other host" };
    const why = /^[A-Z]+$/.test(code) ? ` (${code})` : "";
    return { targets: [], remark: `the DNS lookup for another host failed${why}` };
  }
}

/**
 * Resolves the targets of a SRV record, by priority.
 *
 * @param servers - DNS servers, `address:port`; default the system's
 * @throws what node:dns throws, with a `code`
 */
export async function systemSrv(name: string, servers?: readonly string[]): Promise<{ name: string }[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (servers) resolver.setServers(servers);
  const records = await resolver.resolveSrv(name);
  return records.sort((a, b) => a.priority - b.priority || b.weight - a.weight);
}

function isAddressOfNetwork(host: string): boolean {
  return /^(\[.*\]|[\d.]+)$/.test(host);
}

/** @returns `null` for an invalid host, such as `.`, which means that there is none */
function readHost(target: string): string | null {
  const address = parseAddress(`x@${target.replace(/\.$/, "")}`);
  return address === null || address.includes(":") ? null : address.slice(2);
}

/** If DNS names other hosts, only those count: the domain itself may have no web server. */
function failure(address: string, own: HostResult, others: HostResult[], remark: string): TwtxtError {
  const responsible = others.length > 0 ? others : [own];
  const isFinal = responsible.some(({ misses }) => misses.every(({ kind }) => kind === "none"));
  const steps = [own, ...others].map(sentence).join("; ");
  const rest = others.length > 0 ? "" : `; ${remark}`;
  return isFinal
    ? new TwtxtError("no-such-address", `${address} publishes no key for messages: ${steps}${rest}.`)
    : new TwtxtError("unreachable", `${address} could not be looked up: ${steps}${rest}.`);
}

function sentence({ host, misses }: HostResult): string {
  const silent = misses.find(({ kind }) => kind === "silent");
  if (silent) return `${host} did not answer (${silent.why})`;
  const [why = "", ...others] = new Set(misses.map((miss) => miss.why));
  if (others.length === 0) return `each of the ${misses.length} places on ${host} ${why}`;
  return `on ${host} ${misses.map((miss) => `${miss.path.replace(/[0-9a-f]{64}/, "<hash>")} ${miss.why}`).join(", ")}`;
}
