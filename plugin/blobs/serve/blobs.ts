// plugin/blobs/serve/blobs.ts: the blobs of a site's owners: what is answered to them, and to everybody. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import { isBlobKey } from "../../http/blob-url.js";
import { type Handler, type Log, methodNotAllowed } from "../../http/respond.js";
import { verifyHead } from "../../http/signature.js";
import type { StreamingStore } from "../../store/store.js";
import { type ChangeParts, deleteBlob, noSuchBlob, postBlob, putBlob, type SignedFor, signedBody } from "./change.js";
import { copies } from "./copies.js";
import { listBlobs } from "./list.js";
import { type BlobLimits, quota } from "./quota.js";
import { readOwn, readShared } from "./read.js";
import { storedBlobs } from "./stored.js";

const READING = ["GET", "HEAD", "OPTIONS"];
const METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];

/** The blobs of a site. What is wrong is thrown, to be answered by `answering` of respond.ts. */
export interface Blobs {
  /** `/api/v1/blob`, and below it each blob of whoever has signed. */
  own: Handler;
  /** Below `/shared`, the public ones of each owner. */
  shared: Handler;
  /** Tells the CDN once more what to forget. @param isOver - nothing more is started once this holds */
  forgetAgain(isOver: () => boolean): Promise<void>;
  /** Clears away contents that belong to no blob. @param isOver - as above */
  sweep(isOver: () => boolean): Promise<void>;
}

export interface BlobsOptions {
  store: StreamingStore;
  /** Milliseconds since 1970. */
  now(): number;
  /** Random bytes. */
  random(length: number): Uint8Array;
  sleep(milliseconds: number): Promise<void>;
  /** What signed requests must be meant for, see `SignatureTerms`. */
  authority: string;
  /** Who may keep blobs here, each `kex1...`. */
  owners: ReadonlySet<string>;
  limits: BlobLimits;
  /** As everybody knows them, absolute. */
  urls: { api: string; shared: string };
  /** Makes the CDN forget what it keeps under a tag; `null` where there is none. */
  purge: ((tag: string) => Promise<void>) | null;
  log: Log;
}

export function blobs(options: BlobsOptions): Blobs {
  const { store, now, random, sleep, authority, owners, limits, urls, purge, log } = options;
  const stored = storedBlobs({ store, now, random, log });
  const cdn = copies({ store, purge, sleep, log });
  const parts: ChangeParts = {
    stored,
    quota: quota(stored, limits),
    copies: cdn,
    maxBytes: limits.maxBytes,
    sharedUrl: urls.shared,
  };
  const terms = { authority, allowed: owners, store, now };
  const [apiPath, sharedPath] = [urls.api, urls.shared].map((url) => new URL(url).pathname) as [string, string];

  return {
    async own(request) {
      const { pathname } = new URL(request.url);
      const isList = pathname === apiPath;
      const methods = isList ? READING : METHODS;
      if (request.method === "OPTIONS") return allowing(methods);
      if (!methods.includes(request.method)) return methodNotAllowed(methods);
      // Whether there is such a blob, or could be one, is nobody else's business.
      const signed = verifyHead(request, terms);
      if (isList) {
        await signedBody(request, signed, 0);
        return listBlobs(stored, request, signed.owner, urls.shared);
      }
      return answerOwner(parts, { request, signed, key: keyIn(below(apiPath, pathname)) });
    },

    async shared(request) {
      if (request.method === "OPTIONS") return allowing(READING);
      if (!READING.includes(request.method)) return methodNotAllowed(READING);
      const [owner = "", key = "", ...others] = below(sharedPath, new URL(request.url).pathname).split("/");
      const isPossible = owners.has(owner) && isBlobKey(key) && others.length === 0;
      const response = await readShared(stored, request, async () => {
        const blob = isPossible ? await stored.find(owner, key) : null;
        return blob?.isPublic ? blob : null;
      });
      if (!response) throw new TwtxtError("not-found", "Nothing is shared here.");
      return response;
    },

    forgetAgain: cdn.forgetAgain,
    sweep: stored.sweep,
  };
}

async function answerOwner(parts: ChangeParts, asked: SignedFor): Promise<Response> {
  const { request, signed, key } = asked;
  switch (request.method) {
    case "PUT":
      return putBlob(parts, asked);
    case "POST":
      return postBlob(parts, asked);
    case "DELETE":
      return deleteBlob(parts, asked);
    default: {
      await signedBody(request, signed, 0);
      const response = await readOwn(parts.stored, request, () => parts.stored.find(signed.owner, key));
      if (!response) throw noSuchBlob();
      return response;
    }
  }
}

/** Hosts choose a handler before the dots in a path are resolved: it may lie elsewhere by now. */
function below(top: string, pathname: string): string {
  return pathname.startsWith(`${top}/`) ? pathname.slice(top.length + 1) : "";
}

function keyIn(text: string): string {
  if (isBlobKey(text)) return text;
  throw new TwtxtError("bad-blob-key", "A key is 1 to 128 of A-Z a-z 0-9 . _ -, and neither . nor ..");
}

function allowing(methods: readonly string[]): Response {
  return new Response(null, { status: 204, headers: { allow: methods.join(", ") } });
}
