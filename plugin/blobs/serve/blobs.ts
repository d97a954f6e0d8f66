// plugin/blobs/serve/blobs.ts: the blob service of a site. PROTOCOL 4
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { type Handler, type Log, methodNotAllowed, optionsAnswer } from "../../http/respond.js";
import { verifyHead } from "../../http/signature.js";
import { isBlobKey, ROUTES, type RouteName } from "../../site/routes.js";
import type { StreamingStore } from "../../store/store.js";
import { type ChangeParts, deleteBlob, noSuchBlob, postBlob, putBlob, type SignedFor, signedBody } from "./change.js";
import { copies } from "./copies.js";
import { listBlobs } from "./list.js";
import { type BlobLimits, quota } from "./quota.js";
import { readOwn, readShared } from "./read.js";
import { StoredBlobs } from "./stored.js";

/** The blobs of a site. */
export interface Blobs {
  /** The signature names the owner; for shared blobs, the path does. */
  handlers: Record<"blobs" | "blob" | "shared", Handler>;
  /** Purges changed blobs from the CDN once more. @param isOver - when true, nothing more is started */
  forgetAgain(isOver: () => boolean): Promise<void>;
  /** Deletes contents without a blob. @param isOver - as above */
  sweep(isOver: () => boolean): Promise<void>;
}

export interface BlobsOptions {
  store: StreamingStore;
  now: Clock;
  /** Random bytes. */
  random(length: number): Uint8Array;
  sleep(milliseconds: number): Promise<void>;
  /** The authority of signed requests, see `SignaturePolicy`. */
  authority: string;
  /** Keys that may store blobs, each `kex1...`. */
  owners: ReadonlySet<string>;
  limits: BlobLimits;
  /** Absolute base URL of shared blobs. */
  sharedUrl: string;
  /** Purges a tag from the CDN; `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  log: Log;
}

export function blobs(options: BlobsOptions): Blobs {
  const { store, now, random, sleep, authority, owners, limits, sharedUrl, purge, log } = options;
  const stored = new StoredBlobs({ store, now, random, log });
  const cdn = copies({ store, purge, sleep, log });
  const parts: ChangeParts = {
    stored,
    quota: quota(stored, limits),
    copies: cdn,
    maxBytes: limits.maxBytes,
    sharedUrl,
  };
  const terms = { authority, allowed: owners, store, now };

  return {
    handlers: {
      blobs: allowing("blobs", async (request) => {
        const signed = verifyHead(request, terms);
        await signedBody(request, signed, 0);
        return listBlobs(stored, request, signed.owner, sharedUrl);
      }),

      blob: allowing("blob", async (request, { params }) => {
        // Checked before the key, so that only the owner learns which blobs exist.
        const signed = verifyHead(request, terms);
        return answerOwner(parts, { request, signed, key: keyIn(params.rest ?? "") });
      }),

      shared: allowing("shared", async (request, { params }) => {
        const [owner = "", key = "", ...others] = (params.rest ?? "").split("/");
        const isPossible = owners.has(owner) && isBlobKey(key) && others.length === 0;
        const response = await readShared(stored, request, async () => {
          const blob = isPossible ? await stored.find(owner, key) : null;
          return blob?.isPublic ? blob : null;
        });
        if (!response) throw new TwtxtError("not-found", "Nothing is shared here.");
        return response;
      }),
    },

    forgetAgain: cdn.forgetAgain,
    sweep: (isOver) => stored.sweep(isOver),
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

function keyIn(text: string): string {
  if (isBlobKey(text)) return text;
  throw new TwtxtError("bad-blob-key", "A key is 1 to 128 of A-Z a-z 0-9 . _ -, and neither . nor ..");
}

/** Answers OPTIONS and methods that the route does not have. */
function allowing(route: RouteName, handler: Handler): Handler {
  const methods: readonly string[] = ROUTES[route].methods;
  return async (request, asked) => {
    if (request.method === "OPTIONS") return optionsAnswer(methods);
    return methods.includes(request.method) ? handler(request, asked) : methodNotAllowed(methods);
  };
}
