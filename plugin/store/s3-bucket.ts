// plugin/store/s3-bucket.ts: signed requests to an S3 bucket, and parsing of its answers.
import { AwsClient } from "aws4fetch";
import { TwtxtError } from "../errors.js";
import type { Fetch } from "../transport/fetch.js";
import { canParseUrl, decodePercent } from "../url.js";
import { fetchWithRetry, LastingRefusal, REFUSED, RepeatableRefusal } from "./fetch-with-retry.js";
import { isKey } from "./store.js";

/** Names that S3 allows, and those of older buckets and other services. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
/** How much of an error response is read, in characters. */
const REASON_LENGTH = 16_384;
/** How much of it is reported, in characters. */
const WHY_LENGTH = 300;
/** S3 also answers 403 for a missing key if the access key may not list the bucket. */
const FORBIDDEN =
  "; check the access key and its secret, the region, this machine's clock, and that the access key may list the bucket and get, put and delete in it";

/** The named entities of XML. */
const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export interface S3BucketOptions {
  /** Such as `https://s3.eu-central-1.amazonaws.com`; the bucket and the key follow as its path. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** A prefix of all keys, ending in `/`, so that several stores can share a bucket; default: none. */
  prefix?: string;
  fetch?: Fetch;
}

interface S3Request {
  method: "GET" | "PUT" | "DELETE";
  /** Key with prefix; omitted for the bucket itself. */
  path?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  signal: AbortSignal;
  /** As {@link fetchWithRetry} has it. */
  readBack?(): Promise<Response | null>;
}

/** A refusal that some requests expect. */
export type ExpectedFailure = "no such key" | "condition does not hold";

/**
 * Sends a signed request, with retries when they are safe.
 *
 * @returns a 2xx response; `null` for one of the expected refusals
 * @throws Error with the reason for any other failure
 */
export type Send = (request: S3Request, expected?: readonly ExpectedFailure[]) => Promise<Response | null>;

/** @throws TwtxtError `bad-option` for an invalid endpoint, bucket or prefix */
export function s3Bucket({ endpoint, bucket, prefix = "", fetch, ...access }: S3BucketOptions): Send {
  const root = bucketUrl(endpoint, bucket);
  if (prefix !== "" && !(prefix.endsWith("/") && isKey(prefix.slice(0, -1)))) {
    const what = `segments of a-z 0-9 . _ - with a slash after each, such as "twtxt/", got ${JSON.stringify(prefix)}`;
    throw new TwtxtError("bad-option", `S3 prefix: expected ${what}.`);
  }
  const client = new AwsClient({ ...access, service: "s3" });
  let serviceTime: ServiceTime | null = null;
  const explain = async (refused: Response): Promise<Error> => {
    const { code, error } = await readRefusal(refused);
    const time = code === "RequestTimeTooSkewed" ? Date.parse(refused.headers.get("date") ?? "") : Number.NaN;
    if (Number.isNaN(time)) return error;
    serviceTime = { time, readAt: performance.now() };
    return new RepeatableRefusal(error.message);
  };

  return async ({ path, query, headers = {}, body, ...rest }, expected = []) => {
    const url = new URL(path === undefined ? root : `${root}/${path}`);
    url.search = new URLSearchParams(query).toString();
    // The body is not signed: HTTPS protects its integrity.
    const sign = async () => {
      const aws = serviceTime === null ? {} : { datetime: formatTime(serviceTime) };
      return (await client.sign(url, { method: rest.method, headers, aws })).headers;
    };
    const answer = await fetchWithRetry(url, {
      ...rest,
      sign,
      // The signature is valid for this host only.
      redirect: "manual",
      ...(body && { body, duplex: "half" }),
      ...(fetch && { fetch }),
      explain,
    });
    if (answer.ok) return answer;
    const { expectedFailure, error } = await readRefusal(answer);
    if (expectedFailure && expected.includes(expectedFailure)) return null;
    throw error;
  };
}

/** The clock of a service that refused the time of this machine's clock, which is off by more than 15 minutes. */
interface ServiceTime {
  /** Milliseconds since 1970. */
  time: number;
  /** Of `performance`, which no change of the clock affects. */
  readAt: number;
}

/** @returns the current time, such as `20261120T090000Z` */
function formatTime({ time, readAt }: ServiceTime): string {
  return new Date(time + performance.now() - readAt).toISOString().replace(/[:-]|\.\d+/g, "");
}

function bucketUrl(endpoint: string, bucket: string): string {
  const url = canParseUrl(endpoint) ? new URL(endpoint) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isUsable) {
    const what = 'an absolute URL such as "https://s3.eu-central-1.amazonaws.com", without user, query or fragment';
    throw new TwtxtError("bad-option", `S3 endpoint: expected ${what}.`);
  }
  if (!BUCKET.test(bucket)) {
    throw new TwtxtError("bad-option", `S3 bucket: expected a name such as "my-blog", got ${JSON.stringify(bucket)}.`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/${bucket}`;
}

interface Refusal {
  /** Such as `NoSuchKey`. */
  code: string | undefined;
  error: Error;
  expectedFailure: ExpectedFailure | null;
}

/** Reads why a request was refused. A missing bucket does not count as a missing key. */
async function readRefusal({ status, body }: Response): Promise<Refusal> {
  const text = await readStart(body);
  const [code] = readTexts(text, "Code");
  const [message] = readTexts(text, "Message");
  const reason = [code, message].filter((part) => part !== undefined).join(": ");
  const why = reason.replace(/\p{C}+/gu, " ").slice(0, WHY_LENGTH);
  const Kind = status >= 500 || REFUSED.includes(status) ? Error : LastingRefusal;
  const error = new Kind(`it answered with status ${status}${why && ` (${why})`}${status === 403 ? FORBIDDEN : ""}`);
  if (status === 412) return { code, error, expectedFailure: "condition does not hold" };
  return { code, error, expectedFailure: status === 404 && code === "NoSuchKey" ? "no such key" : null };
}

async function readStart(body: Response["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > REASON_LENGTH) break;
  }
  return text;
}

/** A page of ListObjectsV2, see docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
interface ListPage {
  keys: string[];
  /** Token of the next page; `null` on the last page. */
  next: string | null;
}

/** The most keys that a page has. */
const PAGE_KEYS = 1000;

interface ListQuery {
  prefix: string;
  /** A key of the bucket; `undefined` for the first one. */
  startAfter: string | undefined;
  /** The number of keys that are wanted. */
  limit: number;
  /** The token from the previous page; `null` for the first page. */
  next: string | null;
}

export function listQuery({ prefix, startAfter, limit, next }: ListQuery): Record<string, string> {
  return {
    "list-type": "2",
    "encoding-type": "url",
    prefix,
    ...(startAfter !== undefined && { "start-after": startAfter }),
    ...(limit < PAGE_KEYS && { "max-keys": String(limit) }),
    ...(next !== null && { "continuation-token": next }),
  };
}

/**
 * Parses a page. Keys that cannot be decoded are skipped: such a server does not encode keys, and they are not this store's.
 *
 * @throws Error for an incomplete page, which must not look like an empty list
 */
export function listPage(xml: string): ListPage {
  const [isMore] = readTexts(xml, "IsTruncated");
  const [next = ""] = readTexts(xml, "NextContinuationToken");
  const isWhole = /<\/ListBucketResult>\s*$/.test(xml) && (isMore === "false" || (isMore === "true" && next !== ""));
  if (!isWhole) throw new Error("its list of keys is incomplete");
  return {
    keys: readTexts(xml, "Key").flatMap((key) => decodePercent(key) ?? []),
    next: isMore === "true" ? next : null,
  };
}

/** The contents of all elements of this name that contain only text. */
function readTexts(xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([^<]*)</${element}>`, "g");
  return [...xml.matchAll(pattern)].map(([, text = ""]) => unescaped(text));
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (code === null) return NAMED[name] ?? all;
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
