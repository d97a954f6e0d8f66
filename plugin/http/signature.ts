// plugin/http/signature.ts: verifies signed requests. PROTOCOL 5
import { hash, type KeyObject } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { RecentValues } from "../groups.js";
import { toVerifyingKey, verifyOffThread } from "../keys/ed25519.js";
import { isKeyText, parseKey } from "../keys/key.js";
import type { Store } from "../store/store.js";
import { type Nonce, spendNonce } from "./nonces.js";
import type { HttpRequest, RequestHeaders } from "./respond.js";
import {
  CLOCK_SKEW,
  contentDigest,
  DERIVED,
  FIELDS,
  LABEL,
  MAX_LIFETIME,
  NONCE_BYTES,
  notSigned,
  signatureBase,
} from "./sign-request.js";

const READING = ["GET", "HEAD"];
const SIGNATURE_BYTES = 64;
/**
 * The canonical form of RFC 8941, of which a valid signature has only a part: one label, plain names, and parameters that are
 * numbers without a sign or strings without escapes. Other forms need not be told apart.
 */
const SIGNATURE_INPUT = /^sig=(\(("[^"\\]+"(?: "[^"\\]+")*)\)((?:;[a-z]+=(?:0|[1-9]\d{0,14}|"[^"\\]*"))+))$/;
const PARAMETER = /;([a-z]+)=(?:(\d+)|"([^"]*)")/g;
const SIGNATURE = /^sig=:([A-Za-z0-9+/]+=*):$/;

/** Keys of allowed requests: checking and importing a key takes longer than verifying a signature. */
const rememberedKeys = new RecentValues<string, KeyObject>(100);

export interface SignaturePolicy {
  /** The `host` or `host:port` of the option `url`; the request's own `Host` is not trusted. */
  authority: string;
  /** The allowed keys, each `kex1...`. */
  allowed: Pick<ReadonlySet<string>, "has">;
  /** Stores the nonces of writes. */
  store: Store;
  now: Clock;
}

/** A request with a valid signature, whose body is not verified yet. */
export interface SignedHead {
  /** The signing key, `kex1...`. */
  owner: string;
  /** The signed `Content-Digest`, `sha-256=:...:`; `null` for no body. */
  digest: string | null;
  /** A write must refuse a nonce that was used before, see {@link nonceUsed}. */
  nonce: Nonce;
  /** Passes on the body. @throws TwtxtError `not-signed` if it does not match the digest */
  checkBody(reading: Promise<Uint8Array>): Promise<Uint8Array>;
}

/**
 * Verifies a signed request with its body.
 *
 * @param readBody - reads the body with a size limit; called only after the signature of an allowed key
 * @throws TwtxtError as {@link verifyHead}; `not-signed` also for a wrong body and a replayed write; `store-failed`; errors
 *   of `readBody`
 * @see PROTOCOL 5
 */
export async function verifyRequest(
  request: HttpRequest,
  readBody: () => Promise<Uint8Array>,
  policy: SignaturePolicy,
): Promise<{ owner: string; body: Uint8Array }> {
  const { owner, nonce, checkBody } = await verifyHead(request, policy);
  const body = await checkBody(readBody());
  if (!READING.includes(request.method) && !(await spendNonce(policy.store, nonce))) throw nonceUsed();
  return { owner, body };
}

/** A request that is signed by the key of any guest. PROTOCOL 3.5 */
export interface GuestRequest {
  key: string;
  body: Uint8Array;
  /** Marks the request as used. Only what is stored costs that: anyone can make a key. @throws TwtxtError `not-signed` for a replay */
  spend(): Promise<void>;
}

/** Verifies a request of a guest with its body. @throws TwtxtError as {@link verifyHead}; errors of `readBody` */
export async function verifyGuest(
  request: HttpRequest,
  readBody: () => Promise<Uint8Array>,
  { authority, store, now }: Omit<SignaturePolicy, "allowed">,
): Promise<GuestRequest> {
  const { owner, nonce, checkBody } = await verifyHead(request, { authority, allowed: { has: () => true }, now });
  const spend = async () => {
    if (!(await spendNonce(store, nonce))) throw nonceUsed();
  };
  return { key: owner, body: await checkBody(readBody()), spend };
}

/**
 * Verifies a signed request without its body and nonce, for streamed bodies.
 *
 * @throws TwtxtError `not-signed` for a missing or invalid signature; `wrong-clock` for its time; `not-allowed` for a key that is not allowed
 * @see PROTOCOL 5
 */
export async function verifyHead(
  request: HttpRequest,
  { authority, allowed, now }: Omit<SignaturePolicy, "store">,
): Promise<SignedHead> {
  const { method, url, headers } = request;
  const { components, parameters, params, signature } = readSignature(headers);
  checkComponents(components, headers);
  const nonce = checkParameters(parameters, now() / 1000);

  const key = toKeyObject(nonce.keyid);

  const base = signatureBase({ method, authority, url, headers }, components, params);
  if (!(await verifyOffThread(key, Buffer.from(base), signature)))
    throw notSigned("the signature does not match the request and the key");
  if (!allowed.has(nonce.keyid)) throw new TwtxtError("not-allowed", "This key is not allowed to do this.");
  rememberedKeys.set(nonce.keyid, key);

  const digest = headers.get("content-digest");
  return {
    owner: nonce.keyid,
    digest,
    nonce,
    async checkBody(reading) {
      const body = await reading;
      const isSigned = digest === null ? body.length === 0 : digest === contentDigest(hash("sha256", body, "buffer"));
      if (isSigned) return body;
      throw digestMismatch();
    },
  };
}

export function nonceUsed(): TwtxtError {
  return notSigned("its nonce was used before");
}

export function digestMismatch(): TwtxtError {
  return notSigned('"content-digest" is not the sha-256 of the body');
}

/** The signature fields of a request, not yet verified. */
interface SignatureFields {
  components: string[];
  parameters: Map<string, string | number>;
  /** The value of `@signature-params`, as received. */
  params: string;
  /** 64 bytes. */
  signature: Uint8Array;
}

/**
 * Parses `signature-input` and `signature`, which must have one label and the canonical form of RFC 8941.
 *
 * @throws TwtxtError `not-signed`
 */
export function readSignature(headers: RequestHeaders): SignatureFields {
  const [, params = "", names = "", own = ""] = match(SIGNATURE_INPUT, "signature-input", headers);
  const [, base64 = ""] = match(SIGNATURE, "signature", headers);
  const found = [...own.matchAll(PARAMETER)].map(
    ([, name = "", digits, text = ""]) => [name, digits === undefined ? text : Number(digits)] as const,
  );
  const parameters = new Map(found);
  if (parameters.size < found.length) throw notSigned("a parameter occurs twice");
  const signature = Buffer.from(base64, "base64");
  if (signature.length !== SIGNATURE_BYTES || signature.toString("base64") !== base64) {
    throw notSigned(`"signature" is not ${SIGNATURE_BYTES} bytes`);
  }
  return { components: names.slice(1, -1).split('" "'), parameters, params, signature };
}

function match(form: RegExp, name: string, headers: RequestHeaders): RegExpExecArray {
  const text = headers.get(name);
  if (text === null) throw notSigned(`it has no "${name}"`);
  const found = form.exec(text);
  if (found) return found;
  throw notSigned(`"${name}" must have the single label "${LABEL}" and the canonical form of RFC 8941`);
}

function checkComponents(components: readonly string[], headers: RequestHeaders): void {
  const known: readonly string[] = [...DERIVED, ...FIELDS];
  const strange = components.find((name, at) => !known.includes(name) || components.indexOf(name) !== at);
  if (strange !== undefined) throw notSigned(`it covers ${JSON.stringify(strange)}, which is unknown or covered twice`);
  const needed = [...DERIVED, ...FIELDS.filter((name) => headers.has(name))];
  const missing = needed.find((name) => !components.includes(name));
  if (missing) throw notSigned(`it does not cover "${missing}"`);
}

const seconds = v.pipe(v.number(), v.safeInteger());
const PARAMETERS = v.strictObject({
  created: seconds,
  expires: seconds,
  nonce: v.pipe(v.string(), v.check(isNonce)),
  keyid: v.string(),
  alg: v.literal("ed25519"),
});

function checkParameters(parameters: ReadonlyMap<string, string | number>, now: number) {
  const result = v.safeParse(PARAMETERS, Object.fromEntries(parameters), { abortEarly: true });
  if (!result.success) throw wrongParameter(v.getDotPath(result.issues[0]));
  const { created, expires } = result.output;
  if (expires < created || expires - created > MAX_LIFETIME) {
    throw notSigned(`"expires" is more than ${MAX_LIFETIME} seconds after "created", or before it`);
  }
  if (created > now + CLOCK_SKEW) throw wrongClock('"created" is in the future');
  if (expires < now - CLOCK_SKEW) throw wrongClock("it has expired");
  return result.output;
}

function isNonce(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === NONCE_BYTES && bytes.toString("base64") === text;
}

/** @throws TwtxtError `not-signed` for a text that is not a key in canonical form */
function toKeyObject(text: string): KeyObject {
  const remembered = rememberedKeys.get(text);
  if (remembered) return remembered;
  if (!isKeyText(text)) throw wrongParameter("keyid");
  return toVerifyingKey(parseKey(text));
}

/** @param why - half a sentence about the time of the signature */
function wrongClock(why: string): TwtxtError {
  return new TwtxtError("wrong-clock", `The time of the signature is wrong by the clock of this site: ${why}.`);
}

function wrongParameter(name: string | null): TwtxtError {
  return notSigned(`its parameter "${name}" is missing or wrong`);
}
