// plugin/mentions/networks/mastodon-posts.ts: posts, edits and deletes statuses on a server with the API of Mastodon.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Sleep } from "../../store/retry.js";
import { countGraphemes, fitParts, type TextPart } from "./copy-text.js";
import { MastodonServer, MastodonStatus, parseStatusUrl } from "./mastodon.js";
import { type Copy, NetworkError } from "./network.js";
import { type CopyToPost, ifRefused, type PostingAccount, type PostingParts } from "./posting.js";

/** What a token must allow. Reading finds a status that was posted before, so that none is posted twice. */
export const MASTODON_SCOPES = "read:accounts read:statuses read:search write:statuses write:media";

const Me = v.object({ id: v.string(), acct: v.string(), url: v.string() });
const Application = v.object({ scopes: v.optional(v.array(v.string())) });
const Media = v.object({ id: v.string(), url: v.nullish(v.string()) });
const Found = v.object({ statuses: v.array(MastodonStatus) });
const amount = (standard: number) => v.optional(v.number(), standard);
const Instance = v.object({
  configuration: v.optional(
    v.object({
      statuses: v.optional(
        v.object({
          max_characters: amount(500),
          characters_reserved_per_url: amount(23),
          max_media_attachments: amount(4),
        }),
        {},
      ),
      media_attachments: v.optional(
        v.object({ image_size_limit: amount(8_000_000), description_limit: amount(1500) }),
        {},
      ),
    }),
    {},
  ),
});

/** Statuses are searched as far back as a post can be that gets a copy, with a day for clocks. */
const SEARCHED_MS = 8 * 24 * 3600_000;
const PAGE = 40;
const MAX_PAGES = 25;
/** A server may process a picture after its answer. */
const MEDIA_POLLS = 10;
const MEDIA_PAUSE_MS = 1000;

export class MastodonPosts implements PostingAccount {
  readonly network = "mastodon";
  readonly canEdit = true;
  readonly place: string;
  readonly #server: MastodonServer;
  readonly #sleep: Sleep;
  readonly #now: Clock;
  #me: Promise<v.InferOutput<typeof Me>> | null = null;
  #limits: Promise<v.InferOutput<typeof Instance>["configuration"]> | null = null;

  /** @param origin - of the server */
  constructor(origin: string, token: string, { sleep, ...parts }: PostingParts) {
    this.place = `${origin}/`;
    this.#server = new MastodonServer(origin, { ...parts, token });
    this.#sleep = sleep;
    this.#now = parts.now;
  }

  async check(): Promise<{ account: string; permissions: string | null }> {
    const { url } = await this.#readMe();
    const application = this.#server.request("/api/v1/apps/verify_credentials", Application).catch(ifRefused(null));
    return { account: url, permissions: (await application)?.value.scopes?.join(" ") ?? null };
  }

  /** Searches the recent statuses of the account for a link to the post. */
  async find({ permalink }: Pick<CopyToPost, "permalink">): Promise<Copy | null> {
    const { id } = await this.#readMe();
    let after = "";
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const path = `/api/v1/accounts/${encodeURIComponent(id)}/statuses?limit=${PAGE}&exclude_reblogs=true${after}`;
      const { value } = await this.#server.request(path, v.array(MastodonStatus));
      const found = value.find(({ content }) => linksTo(content, permalink));
      if (found) return this.#toCopy(found);
      const last = value.at(-1);
      if (last === undefined || Date.parse(last.created_at) < this.#now() - SEARCHED_MS) break;
      after = `&max_id=${encodeURIComponent(last.id)}`;
    }
    return null;
  }

  async post(status: CopyToPost): Promise<Copy> {
    const { value } = await this.#server.request("/api/v1/statuses", MastodonStatus, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": status.key },
      body: JSON.stringify(await this.#toBody(status)),
    });
    return this.#toCopy(value);
  }

  /** A status that the author has deleted stays deleted. */
  async edit(copy: Copy, status: CopyToPost): Promise<Copy> {
    const { in_reply_to_id: _, ...body } = await this.#toBody(status);
    const request = {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    } as const;
    const edited = await this.#server
      .request(`/api/v1/statuses/${encodeURIComponent(copy.id)}`, MastodonStatus, request)
      .catch(ifRefused(null, 404));
    return edited ? this.#toCopy(edited.value) : copy;
  }

  async delete({ id }: Copy): Promise<void> {
    const path = `/api/v1/statuses/${encodeURIComponent(id)}`;
    await this.#server.request(path, v.unknown(), { method: "DELETE" }).catch(ifRefused(null, 404));
  }

  #readMe(): Promise<v.InferOutput<typeof Me>> {
    this.#me ??= this.#server.request("/api/v1/accounts/verify_credentials", Me).then(({ value }) => value);
    return this.#me;
  }

  #readLimits(): Promise<v.InferOutput<typeof Instance>["configuration"]> {
    // Servers without this endpoint take at least what Mastodon takes.
    this.#limits ??= this.#server
      .request("/api/v2/instance", Instance)
      .catch(ifRefused({ value: v.parse(Instance, {}) }, 404))
      .then(({ value }) => value.configuration);
    return this.#limits;
  }

  #toCopy({ id, url, uri }: MastodonStatus): Copy {
    return { network: "mastodon", url: url ?? uri, server: this.#server.origin, id };
  }

  async #toBody(status: CopyToPost) {
    const { statuses, media_attachments: media } = await this.#readLimits();
    const { parts, permalink, lang, warning, replyTo } = status;
    const answered = replyTo === null ? null : await this.#findStatus(replyTo);
    const name = answered === null ? "" : `@${answered.account.acct} `;
    const measure = (part: TextPart) => {
      const url = part.url === null || part.isName ? 0 : statuses.characters_reserved_per_url;
      return part.text === part.url ? url : countGraphemes(part.text) + (url && url + 3);
    };
    const limit = statuses.max_characters - countGraphemes(name + (warning ?? ""));
    const text = name + formatParts(fitParts(parts, permalink, { limit, measure }));
    const ids: string[] = [];
    for (const picture of status.pictures.slice(0, statuses.max_media_attachments)) {
      if (picture.bytes.length > media.image_size_limit) continue;
      ids.push(await this.#upload(picture, media.description_limit));
    }
    return {
      status: text,
      media_ids: ids,
      ...(lang !== null && { language: lang }),
      ...(warning !== null && { spoiler_text: warning, sensitive: true }),
      ...(answered && { in_reply_to_id: answered.id }),
    };
  }

  async #upload({ bytes, type, alt }: CopyToPost["pictures"][number], altLimit: number): Promise<string> {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(bytes)], { type }), `picture.${type.slice(6)}`);
    if (alt !== "") form.set("description", [...alt].slice(0, altLimit).join(""));
    const { headers, body } = await encodeForm(form);
    const request = { method: "POST", headers, body } as const;
    const { value } = await this.#server.request("/api/v2/media", Media, request);
    let { url = null } = value;
    for (let polls = 0; url === null && polls < MEDIA_POLLS; polls += 1) {
      await this.#sleep(MEDIA_PAUSE_MS);
      url = (await this.#server.request(`/api/v1/media/${value.id}`, Media)).value.url ?? null;
    }
    return value.id;
  }

  /** The status with this URL, as the author's server knows it. @throws NetworkError `source-refused` for none */
  async #findStatus(url: string): Promise<MastodonStatus> {
    const own = parseStatusUrl(url);
    if (own?.server === this.#server.origin) {
      return (await this.#server.request(`/api/v1/statuses/${own.id}`, MastodonStatus)).value;
    }
    const query = new URLSearchParams({ q: url, type: "statuses", resolve: "true", limit: "1" });
    const { value } = await this.#server.request(`/api/v2/search?${query}`, Found);
    const [found] = value.statuses;
    if (found) return found;
    throw new NetworkError("source-refused", `${this.place} does not find the status ${url}.`, 404, null);
  }
}

/** A name has no link: Mastodon would make a mention of a handle. */
function formatParts(parts: readonly TextPart[]): string {
  return parts
    .map(({ text, url, isName }) => (url === null || isName || text === url ? text : `${text} (${url})`))
    .join("");
}

/** Whether HTML has a link to exactly this page. */
function linksTo(html: string, page: string): boolean {
  return [...html.matchAll(/\shref="([^"]*)"/g)].some(([, href = ""]) => href.replaceAll("&amp;", "&") === page);
}

async function encodeForm(form: FormData): Promise<{ headers: Record<string, string>; body: Uint8Array }> {
  const response = new Response(form);
  const headers = { "content-type": response.headers.get("content-type") ?? "" };
  return { headers, body: new Uint8Array(await response.arrayBuffer()) };
}
