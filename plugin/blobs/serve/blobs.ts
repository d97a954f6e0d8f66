// plugin/blobs/serve/blobs.ts: the blob service of a site. PROTOCOL 4
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import {
  allowing,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  json,
  type Log,
  parseLimit,
  parseParameters,
  readBody,
} from "../../http/respond.js";
import { verifyHead } from "../../http/signature.js";
import { isBlobKey, ROUTES } from "../../site/routes.js";
import type { Sleep } from "../../store/retry.js";
import type { StreamingStore } from "../../store/store.js";
import { blobJson } from "../blob.js";
import { CdnCopies } from "./cdn-copies.js";
import { type BlobRequest, type ChangeParts, deleteBlob, noSuchBlob, postBlob, putBlob } from "./change.js";
import type { StoredBlob } from "./contents.js";
import { type BlobLimits, Quota } from "./quota.js";
import { readOwn, readShared } from "./read.js";
import { StoredBlobs } from "./stored.js";

const MAX_PAGE = 100;
/** Cursors of lists in a fixed order, and of those with the newest first. */
const CURSORS = { fixed: /^[0-9a-f]{64}$/, newest: /^\d{15}-[0-9a-f]{64}$/ };

export interface BlobsOptions {
  store: StreamingStore;
  now: Clock;
  sleep: Sleep;
  /** The authority of signed requests, see `SignaturePolicy`. */
  authority: string;
  /** Keys that may store blobs, each `kex1...`. */
  owners: ReadonlySet<string>;
  /** Keys of one owner, the newest first: a shared URL with one of them is answered with a blob of any of them. */
  sameOwner?: readonly string[];
  limits: BlobLimits;
  /** Absolute base URL of shared blobs. */
  sharedUrl: string;
  /** Purges a tag from the CDN; `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  log: Log;
}

export class Blobs {
  /** The signature names the owner; for shared blobs, the path does. */
  readonly handlers: Record<"blobs" | "blob" | "shared", Handler>;
  readonly #parts: ChangeParts;

  constructor(private readonly options: BlobsOptions) {
    const { store, now, sleep, limits, sharedUrl, sameOwner, purge, log } = options;
    const stored = new StoredBlobs({ store, now, log });
    this.#parts = {
      stored,
      quota: new Quota(stored.contents, limits),
      copies: new CdnCopies({ store, purge, sleep, log, ...(sameOwner && { sameOwner }) }),
      maxBytes: limits.maxBytes,
      sharedUrl,
    };
    this.handlers = {
      blobs: allowing(ROUTES.blobs.methods, (request) => this.#list(request)),
      blob: allowing(ROUTES.blob.methods, (request, { params }) => this.#answerOwner(request, params.rest ?? "")),
      shared: allowing(ROUTES.shared.methods, (request, { params }) => this.#answerReader(request, params.rest ?? "")),
    };
  }

  /** Purges changed blobs from the CDN once more. @param isOver - when true, nothing more is started */
  purgeAgain(isOver: () => boolean): Promise<void> {
    return this.#parts.copies.purgeAgain(isOver);
  }

  /** Deletes contents without a blob. @param isOver - as above */
  sweep(isOver: () => boolean): Promise<void> {
    return this.#parts.stored.sweep(isOver);
  }

  /**
   * Lists an owner's blobs in a fixed order: `?after=<cursor>&limit=<1 to 100>`, or with `order=newest` those with the newest
   * contents first, and the number and size of all. A page may have fewer than the limit.
   */
  async #list(request: HttpRequest): Promise<HttpResponse> {
    const { stored, sharedUrl } = this.#parts;
    const signed = await this.#verify(request);
    await signed.checkBody(readBody(request, 0));
    const { after = "", limit, order = "fixed" } = parseParameters(request.url, ["after", "limit", "order"]);
    if (order !== "fixed" && order !== "newest") throw new TwtxtError("bad-request", '"order" can only be "newest".');
    if (after !== "" && !CURSORS[order].test(after))
      throw new TwtxtError("bad-request", '"after" must be the "next" of a page.');
    const most = parseLimit(limit, MAX_PAGE);
    const { places, ...page } = await (order === "newest"
      ? stored.contents.listNewestPlaces(signed.owner, after, most)
      : stored.contents.listPlaces(signed.owner, after, most));
    const found = await Promise.all(places.map((place) => stored.findByPlace(signed.owner, place)));
    const blobs = found.flatMap((blob) => (blob ? [blobJson(blob, sharedUrl)] : []));
    return json({ blobs, ...page }, { headers: { "cache-control": "private, no-store" } });
  }

  async #answerOwner(request: HttpRequest, path: string): Promise<HttpResponse> {
    // Verified before the key is checked, so that only the owner learns which blobs exist.
    const signed = await this.#verify(request);
    if (!isBlobKey(path)) {
      throw new TwtxtError("bad-blob-key", "A key is 1 to 128 of A-Z a-z 0-9 . _ -, and neither . nor ..");
    }
    const asked: BlobRequest = { request, signed, key: path };
    if (request.method === "PUT") return putBlob(this.#parts, asked);
    if (request.method === "POST") return postBlob(this.#parts, asked);
    if (request.method === "DELETE") return deleteBlob(this.#parts, asked);
    await signed.checkBody(readBody(request, 0));
    const { stored } = this.#parts;
    const response = await readOwn(stored.contents, request, () => stored.find(signed.owner, path));
    if (!response) throw noSuchBlob();
    return response;
  }

  async #answerReader(request: HttpRequest, path: string): Promise<HttpResponse> {
    const { stored, sharedUrl, copies } = this.#parts;
    const [owner = "", key = "", ...others] = path.split("/");
    const isPossible = this.options.owners.has(owner) && isBlobKey(key) && others.length === 0;
    const requested = { owner, sharedUrl, toTag: (blob: StoredBlob) => copies.toTag(blob) };
    const response = await readShared(stored.contents, request, requested, async () =>
      isPossible ? this.#findShared(owner, key) : null,
    );
    if (!response) throw new TwtxtError("not-found", "Nothing is shared here.");
    return response;
  }

  /** The newest key counts, so that a blob that was put again or moved is shown at its earlier URLs. */
  async #findShared(owner: string, key: string): Promise<StoredBlob | null> {
    const { sameOwner = [] } = this.options;
    for (const one of sameOwner.includes(owner) ? sameOwner : [owner]) {
      const blob = await this.#parts.stored.find(one, key);
      if (blob?.isPublic) return blob;
    }
    return null;
  }

  #verify(request: HttpRequest) {
    const { authority, owners, now } = this.options;
    return verifyHead(request, { authority, allowed: owners, now });
  }
}
