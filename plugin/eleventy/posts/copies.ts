// plugin/eleventy/posts/copies.ts: what copies of posts on other networks have. PROTOCOL 2.7
import { authorError } from "../../errors.js";
import { parseReplyPage } from "../../feed/subject.js";
import { NETWORKS, type SyndicateOption } from "../../options/syndicate.js";
import type { SitePages } from "../../site/site.js";
import { canParseUrl } from "../../url.js";
import type { CollectionItem } from "../eleventy.js";
import { readPictures } from "./pictures.js";
import type { PublishedPost, TwtsFromPosts } from "./twts-from-posts.js";

type CopyFacts = NonNullable<SitePages["twts"][number]["copy"]>;
export type CopiesOfPosts = ReadonlyMap<CollectionItem, CopyFacts>;

const MOST_PICTURES = 4;
/** Pictures in the text of a twt. */
const PICTURE = /!\[([^\]]*)\]\(([^()\s]+)\)/g;

/**
 * The posts with a page whose front matter, or else the option, names a network. The option is not for answers to twts,
 * which nobody on a network would understand without the twt.
 *
 * @throws TwtxtError `bad-front-matter` for an unknown network
 */
export async function copiesOfPosts(twts: TwtsFromPosts): Promise<CopiesOfPosts> {
  const { settings } = twts.site;
  const posts = twts.all().flatMap((published) => {
    const networks = published.post.url ? readNetworks(published.post, settings.syndicate) : [];
    return networks.length > 0 ? [{ published, networks }] : [];
  });
  const copies = posts.map(async ({ published, networks }) => {
    const facts = { networks: [...networks], ...(await readFacts(published, twts)) };
    return [published.post, facts] as const;
  });
  return new Map(await Promise.all(copies));
}

function readNetworks({ data, inputPath }: CollectionItem, option: SyndicateOption): SyndicateOption {
  const { syndicate, replyTo } = data;
  if (syndicate === undefined || syndicate === null) return replyTo && parseReplyPage(replyTo) === null ? [] : option;
  if (syndicate === false) return [];
  const names: unknown[] = [syndicate].flat();
  const known = NETWORKS.filter((name) => names.includes(name));
  if (known.length === new Set(names).size) return known;
  throw authorError(
    "bad-front-matter",
    `${inputPath}: expected syndicate: ["mastodon", "bluesky"], one of them, or false, got ${JSON.stringify(syndicate)}.`,
  );
}

async function readFacts({ post, twt }: PublishedPost, twts: TwtsFromPosts): Promise<Omit<CopyFacts, "networks">> {
  const { settings } = twts.site;
  const { title, summary, description, lang = settings.lang, sensitive, replyTo } = post.data;
  const heading = readText(title);
  const about = readText(description) ?? readText(summary);
  const warning = sensitive === true ? (readText(summary) ?? heading ?? "Sensitive") : undefined;
  const pictures = await listPictures({ post, twt }, twts);
  const answered = parseReplyPage(replyTo);
  return {
    ...(typeof lang === "string" && { lang }),
    ...(warning !== undefined && { warning }),
    ...(heading !== undefined && { title: heading }),
    ...(about !== undefined && { description: about }),
    ...(pictures.length > 0 && { pictures }),
    ...(answered !== null && { replyTo: answered }),
  };
}

/** Those in the text of a note, and for a post with a title those in its own front matter. */
async function listPictures({ post, twt }: PublishedPost, { site }: TwtsFromPosts) {
  const { urls, blobs } = site;
  const own = post.data.title ? ((await post.template?.getFrontMatterData())?.data ?? {}) : null;
  const found = own
    ? readPictures(own).map(({ url, alt }) => ({ url: urls.resolve(blobs.linkInText(url, post.inputPath), post), alt }))
    : [...twt.text.matchAll(PICTURE)].map(([, alt = "", url = ""]) => ({ url, alt }));
  return found.filter(({ url }) => canParseUrl(url)).slice(0, MOST_PICTURES);
}

function readText(value: unknown): string | undefined {
  const text = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
  return text === "" ? undefined : text;
}
