// plugin/mentions/networks/mastodon-posts.ts: signs in to a server with the API of Mastodon, and posts, edits and deletes statuses.
import * as v from "valibot";
import { once } from "../../later.js";
import { webUrlOrNull } from "../../web-url.js";
import { countGraphemes, fitParts, type TextPart } from "./copy-text.js";
import { MastodonStatus, parseStatusUrl, toStatusPath } from "./mastodon.js";
import type { Copy, CopyToPost, Picture, PostingAccount, PostingParts } from "./network.js";
import { ifRefused, NetworkError, type NetworkServer } from "./network-json.js";

/** What a token must allow. Reading finds a status that was posted before, so that none is posted twice. */
export const MASTODON_SCOPES = "read:accounts read:statuses read:search write:statuses write:media";

/** For programs without a page of their own: the server shows a code. */
const OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob";

const Registered = v.object({ client_id: v.string(), client_secret: v.string() });
const Token = v.object({ access_token: v.string() });
const Me = v.object({ id: v.string(), url: v.string() });
const Application = v.object({ scopes: v.optional(v.array(v.string())) });
const Media = v.object({ id: v.string(), url: v.nullish(v.string()) });
const Found = v.object({ statuses: v.array(MastodonStatus) });
const amount = (standard: number) => v.optional(v.number(), standard);
const StatusLimits = v.object({
  max_characters: amount(500),
  characters_reserved_per_url: amount(23),
  max_media_attachments: amount(4),
});
const MediaLimits = v.object({ image_size_limit: amount(8_000_000), description_limit: amount(1500) });
const Limits = v.object({ statuses: v.optional(StatusLimits, {}), media_attachments: v.optional(MediaLimits, {}) });
const Instance = v.object({ configuration: v.optional(Limits, {}) });

/** Statuses are searched as far back as a post can be that gets a copy, with a day for clocks. */
const SEARCHED_MS = 8 * 24 * 3600_000;
const PAGE = 40;
const MAX_PAGES = 25;
/** A server may process a picture after its answer. */
const MEDIA_POLLS = 10;
const MEDIA_PAUSE_MS = 1000;

export class MastodonPosts implements PostingAccount {
  readonly network = "mastodon";
  readonly place: string;
  readonly #readMe = once(() => this.server.request("/api/v1/accounts/verify_credentials", Me));
  /** Servers without this endpoint take at least what Mastodon takes. */
  readonly #readLimits = once(() =>
    this.server.request("/api/v2/instance", Instance).catch(ifRefused({ value: v.parse(Instance, {}) }, 404)),
  );

  /** @param server - as the account sees it */
  constructor(
    readonly server: NetworkServer,
    readonly parts: PostingParts,
  ) {
    this.place = `${server.api}/`;
  }

  async check(): Promise<{ account: string; permissions: string | null }> {
    const { value: me } = await this.#readMe();
    const application = this.server.request("/api/v1/apps/verify_credentials", Application).catch(ifRefused(null));
    return { account: me.url, permissions: (await application)?.value.scopes?.join(" ") ?? null };
  }

  /** Searches the recent statuses of the account for a link to the post. */
  async find(permalink: string): Promise<Copy | null> {
    const { value: me } = await this.#readMe();
    const path = `/api/v1/accounts/${encodeURIComponent(me.id)}/statuses?limit=${PAGE}&exclude_reblogs=true`;
    for (let page = 0, after = ""; page < MAX_PAGES; page += 1) {
      const { value } = await this.server.request(path + after, v.array(MastodonStatus));
      const found = value.find(({ content }) => linksTo(content, permalink));
      if (found) return this.#toCopy(found);
      const last = value.at(-1);
      if (last === undefined || Date.parse(last.created_at) < this.parts.now() - SEARCHED_MS) break;
      after = `&max_id=${encodeURIComponent(last.id)}`;
    }
    return null;
  }

  async post(copy: CopyToPost): Promise<Copy> {
    const key = { "idempotency-key": copy.key };
    const body = await this.#toBody(copy);
    return this.#toCopy(await this.server.send("POST", "/api/v1/statuses", MastodonStatus, body, key));
  }

  async edit(posted: Copy, copy: CopyToPost): Promise<void> {
    // The ID of a copy that the author posted at another server means another status here.
    if (posted.server !== this.server.api) return;
    const { in_reply_to_id: _, ...body } = await this.#toBody(copy);
    await this.server.send("PUT", toStatusPath(posted), v.unknown(), body).catch(ifRefused(null, 404));
  }

  async delete(posted: Copy): Promise<void> {
    if (posted.server !== this.server.api) return;
    const request = this.server.request(toStatusPath(posted), v.unknown(), { method: "DELETE" });
    await request.catch(ifRefused(null, 404));
  }

  #toCopy({ id, url, uri }: MastodonStatus): Copy {
    const page = webUrlOrNull(url ?? uri) ?? `${this.server.api}/web/statuses/${encodeURIComponent(id)}`;
    return { network: "mastodon", url: page, server: this.server.api, id };
  }

  async #toBody({ parts, permalink, lang, warning, replyTo, attach }: CopyToPost) {
    const { statuses, media_attachments: media } = (await this.#readLimits()).value.configuration;
    const answered = replyTo === undefined ? undefined : await this.#findStatus(replyTo);
    const name = answered ? `@${answered.account.acct} ` : "";
    const measure = (part: TextPart) => {
      const url = part.url === null || part.isName ? 0 : statuses.characters_reserved_per_url;
      return part.text === part.url ? url : countGraphemes(part.text) + (url && url + 3);
    };
    const quiet = parts.map((part) => (part.text === part.url ? part : { ...part, text: withoutMentions(part.text) }));
    const limit = statuses.max_characters - countGraphemes(name + (warning ?? ""));
    const pictureLimits = { count: statuses.max_media_attachments, bytes: media.image_size_limit };
    return {
      status: name + formatParts(fitParts(quiet, permalink, limit, measure)),
      media_ids: await attach(pictureLimits, (picture) => this.#upload(picture, media.description_limit)),
      language: lang,
      spoiler_text: warning,
      sensitive: warning && true,
      in_reply_to_id: answered?.id,
    };
  }

  async #upload({ bytes, type, alt }: Picture, altLimit: number): Promise<string> {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(bytes)], { type }), `picture.${type.slice(6)}`);
    if (alt !== "") form.set("description", [...alt].slice(0, altLimit).join(""));
    const encoded = new Response(form);
    const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
    const body = new Uint8Array(await encoded.arrayBuffer());
    let media = await this.server.send("POST", "/api/v2/media", Media, body, headers);
    for (let polls = 0; !media.url && polls < MEDIA_POLLS; polls += 1) {
      await this.parts.sleep(MEDIA_PAUSE_MS);
      media = (await this.server.request(`/api/v1/media/${encodeURIComponent(media.id)}`, Media)).value;
    }
    return media.id;
  }

  /** The status with this URL, as the author's server knows it. @throws NetworkError `source-refused` for none */
  async #findStatus(url: string): Promise<MastodonStatus> {
    const own = parseStatusUrl(url);
    if (own?.server === this.server.api) return (await this.server.request(toStatusPath(own), MastodonStatus)).value;
    const query = new URLSearchParams({ q: url, type: "statuses", resolve: "true", limit: "1" });
    const [found] = (await this.server.request(`/api/v2/search?${query}`, Found)).value.statuses;
    if (found) return found;
    throw new NetworkError("source-refused", `${this.place} does not find the status ${url}.`, 404, null);
  }
}

/** With an invisible character after each `@` that Mastodon would take for a mention, and notify someone. */
function withoutMentions(text: string): string {
  return text.replace(/(?<![=/\p{L}\p{N}_])@(?=[a-z0-9_])/giu, "@\u2060");
}

/** The name of a person without an account has no link: that of a feed is of no use on the network. */
function formatParts(parts: readonly TextPart[]): string {
  return parts
    .map(({ text, url, isName }) => (url === null || isName || text === url ? text : `${text} (${url})`))
    .join("");
}

/** Whether HTML names exactly this page. Some servers do not make links of URLs. */
function linksTo(html: string, page: string): boolean {
  return html.split(/[\s"'<>]+/).some((word) => word.replaceAll("&amp;", "&") === page);
}

/**
 * Asks a server to let the author sign in (OAuth 2). Both steps throw NetworkError.
 *
 * @param site - the URL of the author's site, which the server shows; absent if it is not known
 * @returns the page on which the author allows it and gets a code, and what gets a token for that code
 */
export async function signInToMastodon(server: NetworkServer, site: string | undefined) {
  const { client_id, client_secret } = await server.send("POST", "/api/v1/apps", Registered, {
    client_name: "eleventy-plugin-twtxt",
    redirect_uris: OUT_OF_BAND,
    scopes: MASTODON_SCOPES,
    website: site,
  });
  const app = { client_id, redirect_uri: OUT_OF_BAND, scope: MASTODON_SCOPES };
  return {
    page: `${server.api}/oauth/authorize?${new URLSearchParams({ response_type: "code", ...app })}`,
    async requestToken(code: string): Promise<string> {
      const secrets = { grant_type: "authorization_code", code, client_secret };
      return (await server.send("POST", "/oauth/token", Token, { ...app, ...secrets })).access_token;
    },
  };
}
