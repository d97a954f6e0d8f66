// plugin/store/s3-bucket.ts: signed requests to a bucket, and what its answers mean.
import { AwsClient } from "aws4fetch";
import { TwtxtError } from "../errors.js";
import { patientFetch } from "./patient-fetch.js";
import { textsIn } from "./s3-xml.js";
import { isKey } from "./store.js";

/** S3's own rules for names, and what older buckets and other services have beyond them. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
/** As much of an answer that is no good as is looked at, in characters. */
const REASON_LENGTH = 16_384;
/** As much of it as is told, in characters. */
const WHY_LENGTH = 300;
/** Who may not list is told 403 for a key that is not there. */
const FORBIDDEN =
  "; check the access key and its secret, the region, this machine's clock, and that the access key may list the bucket and get, put and delete in it";

export interface S3BucketOptions {
  /** Such as `https://s3.eu-central-1.amazonaws.com`; the bucket and a key come after it as a path. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Stands before every key and ends in `/`, so that a bucket can hold more than one store; default none. */
  prefix?: string;
  fetch?: typeof globalThis.fetch;
}

export interface S3Request {
  method: "GET" | "PUT" | "DELETE";
  /** With the prefix; none for the bucket itself. */
  path?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  signal: AbortSignal;
}

/** What may hinder a request and is no failure. */
export type Hindrance = "no such key" | "condition does not hold";

/**
 * Sends a request, signed, with all tries that are harmless.
 *
 * @param hindrances - those that can be meant here
 * @returns a good answer; `null` where one of the hindrances is told
 * @throws Error that says why there is neither
 */
export type Send = (request: S3Request, hindrances?: readonly Hindrance[]) => Promise<Response | null>;

/** @throws TwtxtError `bad-option` for what cannot be an endpoint, a bucket or a prefix */
export function s3Bucket({ endpoint, bucket, prefix = "", fetch, ...access }: S3BucketOptions): Send {
  const root = rootOf(endpoint, bucket);
  checkStart(prefix);
  const client = new AwsClient({ ...access, service: "s3" });

  return async ({ path, query, headers = {}, body, ...rest }, hindrances = []) => {
    const url = new URL(path === undefined ? root : `${root}/${path}`);
    url.search = new URLSearchParams(query).toString();
    // The body is not part of what is signed; https keeps it as it is.
    const signed = await client.sign(url, { method: rest.method, headers });
    const answer = await patientFetch(url, {
      ...rest,
      headers: signed.headers,
      // Elsewhere the signature does not count.
      redirect: "manual",
      ...(body && { body, duplex: "half" }),
      ...(fetch && { fetch }),
      explain: async (refused) => (await refusalIn(refused)).error,
    });
    if (answer.ok) return answer;
    const { hindrance, error } = await refusalIn(answer);
    if (hindrance && hindrances.includes(hindrance)) return null;
    throw error;
  };
}

function rootOf(endpoint: string, bucket: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isUsable) {
    throw new TwtxtError(
      "bad-option",
      'The endpoint of S3: expected an absolute URL such as "https://s3.eu-central-1.amazonaws.com", without a user, a query or a fragment.',
    );
  }
  if (!BUCKET.test(bucket)) {
    throw new TwtxtError(
      "bad-option",
      `The bucket of S3: expected its name alone, such as "my-blog", got ${JSON.stringify(bucket)}.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/${bucket}`;
}

function checkStart(prefix: string): void {
  if (prefix === "" || (prefix.endsWith("/") && isKey(prefix.slice(0, -1)))) return;
  throw new TwtxtError(
    "bad-option",
    `The prefix of S3: expected segments of a-z 0-9 . _ - with a slash after each, such as "twtxt/", got ${JSON.stringify(prefix)}.`,
  );
}

/** Reads why a request was refused. That a bucket is not there never counts as that a key is not. */
async function refusalIn({ status, body }: Response): Promise<{ error: Error; hindrance: Hindrance | null }> {
  const text = await beginningOf(body);
  const [code] = textsIn(text, "Code");
  const [message] = textsIn(text, "Message");
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const why = said.replace(/\p{C}+/gu, " ").slice(0, WHY_LENGTH);
  const error = new Error(`it answered with status ${status}${why && ` (${why})`}${status === 403 ? FORBIDDEN : ""}`);
  if (status === 412) return { error, hindrance: "condition does not hold" };
  return { error, hindrance: status === 404 && code === "NoSuchKey" ? "no such key" : null };
}

async function beginningOf(body: Response["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > REASON_LENGTH) break;
  }
  return text;
}
