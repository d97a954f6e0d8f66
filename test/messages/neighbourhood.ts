// test/messages/neighbourhood.ts: test users with keys, and their hosts on loopback.
import { ed25519 } from "@noble/curves/ed25519.js";
import { type Ask, createGuard } from "../../plugin/http/guard.js";
import { formatKey, type SecretKey } from "../../plugin/keys/key.js";
import { secretKey } from "../../plugin/messages/index.js";
import type { Found } from "../../plugin/messages/lookup/lookup.js";
import type { ConnectionTarget } from "../../plugin/transport/transport.js";
import { PATIENT_MS } from "../helpers/longest.js";
import { type LoopbackServer, loopbackRoute, loopbackServer } from "../helpers/loopback.js";

export const NOW = Date.parse("2026-11-20T09:00:00Z");
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

export interface Person {
  address: string;
  key: SecretKey;
  /** `kex1...` */
  kex: string;
}

/** @param number - the seed of the key */
export function person(address: string, number: number): Person {
  const seed = new Uint8Array(32).fill(number);
  const publicKey = ed25519.getPublicKey(seed);
  return { address, key: secretKey(Uint8Array.from([...seed, ...publicKey])), kex: formatKey(publicKey) };
}

export const ALICE = person("alice@alice.example", 1);
export const BOB = person("bob@bob.example", 2);
export const CAROL = person("carol@carol.example", 3);
export const EVE = person("eve@eve.example", 4);

/** The result of a lookup. */
export function foundFor({ address, kex }: Person, changed: Partial<Found> = {}): Found {
  const domain = address.slice(address.indexOf("@") + 1);
  const endpoint = `http://${domain}/inbox`;
  return { address, key: kex, endpoint, url: `http://${domain}/.well-known/`, byDns: false, ...changed };
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A host that responds by path, with 404 for unknown paths. */
export function hostWith(answers: Record<string, Answer>): Promise<LoopbackServer> {
  return loopbackServer((request, response) => {
    const { status = 200, headers = {}, body = "" } = answers[request.url ?? ""] ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
}

/** A host that accepts connections but never responds. */
export function silentHost(): Promise<LoopbackServer> {
  return loopbackServer(() => {});
}

export interface Neighbourhood {
  ask: Ask;
  /** Hosts that may use plain http, as with `--allow-private-host`. */
  plainHosts: string[];
}

/** A network in which only these names resolve, over plain http. */
export function neighbourhood(
  hosts: Record<string, Pick<LoopbackServer, "port">>,
  totalMs = PATIENT_MS,
): Neighbourhood {
  const plainHosts = Object.keys(hosts).map((name) => `${name}:80`);
  const route = (target: ConnectionTarget) => {
    const host = hosts[target.host];
    if (!host) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${target.host}`), { code: "ENOTFOUND" });
    return loopbackRoute({ ...target, host: "127.0.0.1", port: host.port });
  };
  const ask = createGuard({
    userAgent: "test/1",
    allowPrivateHosts: plainHosts,
    route,
    totalMs,
    firstByteMs: totalMs,
  });
  return { ask, plainHosts };
}
