// plugin/browser/own-comments.ts: a reader's comments at the site, and what the browser remembers of them. PROTOCOL 2.6
import { signRequest } from "../http/sign-request.js";
import { encodeKey, type SecretKey } from "../messages/browser.js";
import { COMMENT_MEMORY } from "./conversation-database.js";

const REQUEST_MS = 30_000;
/** The time that a page must be open, with a reserve for clocks that are rounded. */
const READING_MS = 2100;

/** A comment as its reader sees it. */
export interface OwnComment {
  id: string;
  state: "held" | "shown" | "rejected";
  source: string;
  target: string;
  text: string;
  html: string;
  name: string;
  site: string | null;
  hash: string;
  hashV1: string;
  former: string[];
  replyTo: string;
  published: string;
  received: string;
  /** The number of shown answers. */
  answers: number;
}

/** What a reader has typed. */
export interface TypedComment {
  text: string;
  name: string;
  site: string;
  "reply-to": string;
  mail?: string;
}

/** Why a request failed: a word of the form. */
export type Failure = "closed" | "same" | "busy" | "full" | "refused" | "wrongClock" | "offline";

const FAILURES: Readonly<Record<number, Failure>> = { 401: "wrongClock", 403: "closed", 409: "same", 429: "busy" };

/** The endpoint of comments, for one reader. */
export class OwnComments {
  readonly #url: string;
  readonly key: SecretKey;

  /** @param url - of the endpoint, absolute */
  constructor(url: string, key: SecretKey) {
    this.#url = url;
    this.key = key;
  }

  /** @returns those of a post, oldest first */
  async list(target: string): Promise<OwnComment[] | Failure> {
    const answer = await this.#ask("GET", `?guest=${encodeKey(this.key.publicKey)}`);
    if (typeof answer === "string") return answer;
    const all = Object(answer).comments as OwnComment[];
    return all.filter((comment) => comment.target === target);
  }

  /** Sends a comment, or replaces one. @param id - of the one that is replaced; `null` for a new one */
  async send(typed: TypedComment, target: string, id: string | null): Promise<{ state: string } | Failure> {
    // The site refuses what is sent earlier.
    await new Promise((resolve) => setTimeout(resolve, READING_MS - performance.now()));
    const seconds = (performance.now() / 1000).toFixed(1);
    const answer = await this.#ask("POST", id === null ? "" : `/${id}`, { ...typed, target, seconds });
    return answer as { state: string } | Failure;
  }

  async remove(id: string): Promise<object | Failure> {
    return this.#ask("DELETE", `/${id}`);
  }

  #ask(method: string, path: string, json?: object): Promise<object | Failure> {
    return askSite(this.key, method, this.#url + path, json);
  }
}

/** Sends a request. @param key - signs it; `null` for none */
export async function askSite(
  key: SecretKey | null,
  method: string,
  url: string,
  json?: object,
): Promise<object | Failure> {
  const body = json && new TextEncoder().encode(JSON.stringify(json));
  const headers = body ? { "content-type": "application/json" } : {};
  const signer = key && { publicKey: encodeKey(key.publicKey), sign: key.sign };
  const signed = signer ? signRequest({ method, url, headers, ...(body && { body }) }, signer, Date.now()) : headers;
  try {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const response = await fetch(url, { method, headers: signed, signal, cache: "no-store", ...(body && { body }) });
    if (response.ok) return Object(await response.json());
    if ((await readCode(response)) === "too-many-pending") return "full";
    return FAILURES[response.status] ?? (response.status >= 500 ? "offline" : "refused");
  } catch {
    return "offline";
  }
}

async function readCode(response: Response): Promise<unknown> {
  return response
    .json()
    .then((problem) => Object(problem).code)
    .catch(() => null);
}

/** What the browser remembers between visits. */
interface Memory {
  site?: string;
  /** By the URL of the post. */
  drafts?: Record<string, { text: string; replyTo: string; to: string }>;
  /** Numbers of answers that the reader has seen, by the id of the comment. */
  seen?: Record<string, number>;
}

export function readMemory(): Memory {
  try {
    return Object(JSON.parse(localStorage.getItem(COMMENT_MEMORY) ?? "{}"));
  } catch {
    return {};
  }
}

export function writeMemory(change: Memory): void {
  const { site, drafts, seen } = readMemory();
  const memory = { site, ...change, drafts: { ...drafts, ...change.drafts }, seen: { ...seen, ...change.seen } };
  localStorage.setItem(COMMENT_MEMORY, JSON.stringify(memory));
}
