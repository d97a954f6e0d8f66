// plugin/eleventy/posts/copies.ts: what copies of posts on other networks have. PROTOCOL 2.7
import { badFrontMatter } from "../../errors.js";
import { parseReplyPage } from "../../feed/subject.js";
import { NETWORKS, type SyndicateOption } from "../../options/syndicate.js";
import type { CopyFacts } from "../../site/site.js";
import { canParseUrl } from "../../url.js";
import type { CollectionItem } from "../eleventy.js";
import { readPictures } from "./pictures.js";
import type { PublishedPost, TwtsFromPosts } from "./twts-from-posts.js";

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
  const copies = twts.all().map(async (published): Promise<[CollectionItem, CopyFacts][]> => {
    const { post } = published;
    const networks = post.url ? readNetworks(post, twts.site.settings.syndicate) : [];
    return networks.length > 0 ? [[post, { networks: [...networks], ...(await readFacts(published, twts)) }]] : [];
  });
  return new Map((await Promise.all(copies)).flat());
}

function readNetworks(post: CollectionItem, option: SyndicateOption): SyndicateOption {
  const { syndicate, replyTo } = post.data;
  if (syndicate === undefined || syndicate === null) return replyTo && parseReplyPage(replyTo) === null ? [] : option;
  if (syndicate === false) return [];
  const names: unknown[] = [syndicate].flat();
  const known = NETWORKS.filter((name) => names.includes(name));
  if (known.length === new Set(names).size) return known;
  throw badFrontMatter(post, 'syndicate: ["mastodon", "bluesky"], one of them, or false', syndicate);
}

async function readFacts({ post, twt }: PublishedPost, twts: TwtsFromPosts): Promise<Omit<CopyFacts, "networks">> {
  const { title, summary, description, lang = twts.site.settings.lang, sensitive, replyTo } = post.data;
  const heading = readText(title);
  const pictures = await listPictures({ post, twt }, twts);
  return {
    lang: typeof lang === "string" ? lang : undefined,
    warning: sensitive === true ? (readText(summary) ?? heading ?? "Sensitive") : undefined,
    title: heading,
    description: readText(description) ?? readText(summary),
    pictures: pictures.length > 0 ? pictures : undefined,
    replyTo: parseReplyPage(replyTo) ?? undefined,
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
