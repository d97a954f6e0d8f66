// plugin/author/mentions/site-mentions.ts: the mentions that the author's site received, and the author's decisions about them.
import type * as v from "valibot";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { mentionPages } from "../../http/read-mention-list.js";
import type { SiteRequest } from "../../http/site-api.js";
import type { MentionState } from "../../mentions/mention.js";
import {
  Forgotten,
  Imported,
  ManagedMention,
  ManagedPage,
  Rejected,
  STATES,
  VerifiedPending,
} from "../../mentions/receive/managed-mention.js";
import { ENGLISH } from "../../options/words.js";
import type { PublicMention } from "../../site/mention-list.js";
import { describeMention, type MentionSentence } from "../../site/mention-sentence.js";
import { MAX_MANAGED_PAGE } from "../../site/routes.js";
import type { HostSettings } from "../../site/site.js";
import { isFeedUrl } from "../../url.js";
import { counted } from "../amounts.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import { createNetwork, ownUrl } from "../network.js";
import type { Outcome } from "../outcome.js";
import { openSiteApi, parseAnswer, readPages, type SiteApiChoice } from "../own-site.js";

export type State = (typeof STATES)[number];

/** How many mentions one request imports, and their characters of JSON: the site takes 1 MiB. */
const PER_IMPORT = 100;
const IMPORT_LENGTH = 250_000;

/** A mention, and the version that the author has seen; `null` for any version, which the option `moderate` refuses. */
type Decided = Pick<ManagedMention, "id" | "version">;

type DecisionChange = Record<"from" | "to", MentionState>;

export const DECISIONS: Readonly<Record<MentionState, string>> = {
  shown: "Approved",
  rejected: "Rejected",
  held: "Held again",
};

/** Requests to the site that are signed with its author's key. All methods throw TwtxtError as `AskSite`. */
export class SiteMentions {
  private constructor(
    private readonly api: Awaited<ReturnType<typeof openSiteApi>>,
    private readonly ending: AbortSignal | undefined,
  ) {}

  /** What a mention says about a page of the site. */
  readonly describe = (mention: ManagedMention): MentionSentence =>
    describeMention(mention, this.api.settings.feedUrl, ENGLISH);

  /**
   * @param ending - aborts requests that only read
   * @throws TwtxtError `no-settings`, also if the site receives no mentions; `no-identity` or `bad-identity` without the
   *   key of one of its authors
   */
  static async open(choice: SiteApiChoice, machine: Machine, ending?: AbortSignal): Promise<SiteMentions> {
    return new SiteMentions(await openSiteApi("mentionsApi", choice, machine, { check: checkReceiver }), ending);
  }

  async #ask<T>(
    schema: v.GenericSchema<unknown, T>,
    method: SiteRequest["method"],
    path: string,
    json?: object,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const { root, ask } = this.api;
    // `netlify dev` changes bodies whose type is not named.
    const named = json === undefined ? headers : { ...headers, "content-type": "application/json" };
    const body = json && { body: Buffer.from(JSON.stringify(json)) };
    const aborting = method === "GET" && this.ending && { signal: this.ending };
    const response = await ask({ method, path, headers: named, ...body, ...aborting });
    return parseAnswer(schema, await response.json(), root);
  }

  /** The mentions in a state, newest first. @param most - how many at most; default: all */
  async list(state: State, most = Infinity): Promise<ManagedMention[]> {
    return readPages((after, limit) => this.page(state, after, limit), { perPage: MAX_MANAGED_PAGE, most });
  }

  /**
   * A page of the list, newest first, with the number of all mentions in the state.
   *
   * @param after - the `next` of the page before; `null` for the first
   * @param limit - at most 2,000
   */
  async page(state: State, after: string | null, limit = 100): Promise<v.InferOutput<typeof ManagedPage>> {
    const cursor = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    return this.#ask(ManagedPage, "GET", `?state=${state}&limit=${limit}${cursor}`);
  }

  /** The mentions whose IDs start with a text, in all states. */
  async find(prefix: string): Promise<ManagedMention[]> {
    return (await this.#ask(ManagedPage, "GET", `?id=${prefix}`)).mentions;
  }

  async count(state: State): Promise<number> {
    return (await this.page(state, null, 1)).count;
  }

  async all(): Promise<ManagedMention[]> {
    return (await Promise.all(STATES.map((state) => this.list(state)))).flat();
  }

  /**
   * Shows a mention, hides it permanently, or holds it for another decision.
   *
   * @throws TwtxtError also `precondition-failed` if it has changed, `precondition-required` if the site needs a version
   */
  async decide({ id, version }: Decided, state: MentionState): Promise<ManagedMention> {
    const headers = version === null ? {} : { "if-match": `"${version}"` };
    return this.#ask(ManagedMention, "POST", `/${id}`, { state }, headers);
  }

  /** Deletes a mention without a trace. @returns how many there were */
  async forget(id: string): Promise<number> {
    return (await this.#ask(Forgotten, "DELETE", `/${id}`)).forgotten;
  }

  /** Deletes all mentions from a feed or a host without a trace. @returns how many there were */
  async forgetSource(source: string): Promise<number> {
    return (await this.#ask(Forgotten, "DELETE", `?source=${encodeURIComponent(source)}`)).forgotten;
  }

  /**
   * Shows a mention, hides it permanently, or holds it for another decision.
   *
   * @param from - its state, which undoing restores
   * @throws TwtxtError as {@link decide}
   */
  async decideOne(mention: Decided, { from, to }: DecisionChange): Promise<Outcome> {
    const decided = await this.decide(mention, to);
    const { author, source } = decided;
    return {
      text: `${DECISIONS[to]}: the mention by ${author?.name || source}.`,
      undo: () => this.decideOne(decided, { from: to, to: from }),
    };
  }

  /** Decides about several mentions. One that has changed since it was listed stays as it is. */
  async decideMany(mentions: readonly Decided[], { from, to }: DecisionChange): Promise<Outcome> {
    const decided: ManagedMention[] = [];
    for (const mention of mentions) {
      const isChanged = ifTwtxtError(() => null, "precondition-failed", "not-found");
      const answer = await this.decide(mention, to).catch(isChanged);
      if (answer) decided.push(answer);
    }
    const changed = mentions.length - decided.length;
    const others =
      changed === 0 ? "" : ` ${counted(changed, "other has", "others have")} changed since, and stayed as before.`;
    return {
      text: `${DECISIONS[to]}: ${counted(decided.length, "mention")}.${others}`,
      ...(decided.length === 0 && { isFailure: true }),
      undo: () => this.decideMany(decided, { from: to, to: from }),
    };
  }

  /** Rejects what senders have sent, and refuses what they will send. @param senders - hosts and feeds */
  async block(senders: readonly string[]): Promise<Outcome> {
    const count = await this.#decideSenders(senders, "rejected");
    return { text: `Blocked. ${count} rejected.`, undo: () => this.unblock(senders) };
  }

  /** Takes new mentions of senders again. What was rejected stays rejected. */
  async unblock(senders: readonly string[]): Promise<Outcome> {
    await this.#decideSenders(senders, "held");
    return { text: "No longer blocked. What was rejected stays in the list of rejected mentions." };
  }

  /** @returns how many mentions were shown or held, and are rejected now */
  async #decideSenders(senders: readonly string[], state: "rejected" | "held"): Promise<number> {
    let count = 0;
    for (const sender of senders) {
      count += (await this.#ask(Rejected, "POST", `?source=${encodeURIComponent(sender)}`, { state })).rejected;
    }
    return count;
  }

  /** Verifies pending mentions now. */
  async verify(): Promise<Outcome> {
    const { kept, dropped, waiting, threads } = await this.#ask(VerifiedPending, "POST", "/verify");
    const read = threads === undefined ? "" : ` ${counted(threads, "thread")} read on other networks.`;
    return { text: `${kept} verified, ${dropped} dropped, ${waiting} still pending.${read}` };
  }

  /**
   * Imports mentions that another service verified, and comments.
   *
   * @param mentions - in the format of `POST /api/v1/mentions/import`, which checks them
   * @param onProgress - called after each request, with the number of mentions so far
   * @returns how many were stored, were the same as a stored one, and were ignored
   */
  async import(
    mentions: Iterable<object> | AsyncIterable<object>,
    onProgress: (done: number) => void,
  ): Promise<v.InferOutput<typeof Imported>> {
    const sum = { imported: 0, known: 0, ignored: 0 };
    let done = 0;
    for await (const batch of splitImport(mentions)) {
      const answer = await this.#ask(Imported, "POST", "/import", { mentions: batch });
      for (const name of ["imported", "known", "ignored"] as const) sum[name] += answer[name];
      done += batch.length;
      onProgress(done);
    }
    return sum;
  }
}

/** Lists of as many mentions as one request can have, at least one. */
async function* splitImport(mentions: Iterable<object> | AsyncIterable<object>): AsyncGenerator<object[]> {
  let [batch, length]: [object[], number] = [[], 0];
  for await (const mention of mentions) {
    const added = JSON.stringify(mention).length;
    if (batch.length > 0 && (batch.length >= PER_IMPORT || length + added > IMPORT_LENGTH)) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(mention);
    length += added;
  }
  if (batch.length > 0) yield batch;
}

/** @throws TwtxtError `no-settings` for a site that receives no mentions on any host */
function checkReceiver({ isReceiver, endpoint }: HostSettings): void {
  if (isReceiver) return;
  const what =
    endpoint === null
      ? "The option mentions: false turns mentions off. Remove it"
      : `Your mentions are received at ${endpoint}, so read them there. To receive them at your site, remove the option "webmention"`;
  throw new TwtxtError("no-settings", `${what}, build and deploy.`);
}

const MAX_MENTIONS = 300;

/**
 * Reads the newest 300 mentions, newest first; none from a site that does not receive its mentions itself.
 *
 * @throws TwtxtError `unreachable`, and others of the guard
 */
export async function shownMentions(
  settings: Pick<HostSettings, "isReceiver" | "hasEndpoints" | "urls">,
  choice: Pick<OwnSiteChoice, "url" | "allow-private-host">,
  signal: AbortSignal,
): Promise<PublicMention[]> {
  if (!settings.isReceiver || !settings.hasEndpoints) return [];
  const url = ownUrl(settings.urls.mentionsJson, choice);
  const { ask } = createNetwork(choice, { ownUrl: url });
  const newest: PublicMention[] = [];
  for await (const { mentions } of mentionPages(ask, url, signal)) {
    newest.push(...mentions);
    if (newest.length >= MAX_MENTIONS) break;
  }
  return newest.slice(0, MAX_MENTIONS);
}

/** Where a mention comes from, as its sender can be blocked: a host, an account of a network, or the feed of a guest at this site. */
export function readSender({ source, author, copy }: Pick<ManagedMention, "source" | "author" | "copy">): string {
  if (author && (author.guest || copy !== undefined)) return author.url;
  return isFeedUrl(source) ? new URL(source).hostname : source;
}
