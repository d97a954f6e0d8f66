// plugin/cli/doctor/archives.ts: whether older twts are found, in the archives that a feed names.
import type { ParsedTwt } from "../../feed/feed.js";
import { twtHash } from "../../feed/hash.js";
import { FEED_BYTES, previousPart } from "../../http/feed-file.js";
import { checkType } from "./feed-serving.js";
import { asFeed, noFeed, type SeenFeed } from "./find-feed.js";
import { counted, type Finding, fix, note, ok, quoted } from "./finding.js";
import { isSeen, type Look } from "./look.js";

/** More than the months of forty years. */
const MAX_PARTS = 500;
const MAX_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 60_000;
const MEND = "Build and deploy the site again: until then readers miss what is older.";

interface Archive {
  archive: SeenFeed;
  /** What names it. */
  hash: string;
}

/** @see PROTOCOL 1.4 */
export async function checkArchives(feed: SeenFeed, look: Look): Promise<Finding[]> {
  const findings: Finding[] = [];
  const known = new Set(feed.parsed.twts.map(lineOf));
  const identity = feed.header.url?.[0] ?? feed.url;
  const inFeed = known.size;
  let count = 0;
  for await (const next of archivesOf(feed, look)) {
    if ("level" in next) {
      findings.push(next);
      continue;
    }
    count += 1;
    findings.push(...checkArchive(next, identity, known));
    for (const twt of next.archive.parsed.twts) known.add(lineOf(twt));
  }
  if (count === 0) return findings;
  const what = `${counted(count, "archive")} can be read, with ${counted(known.size - inFeed, "older twt")}`;
  return [ok(what), ...findings];
}

/** The archives, newest first, up to the last one or what is in the way of it. */
async function* archivesOf(feed: SeenFeed, look: Look): AsyncIterable<Archive | Finding> {
  const signal = AbortSignal.timeout(WAIT_MS);
  const asked = new Set([feed.url]);
  let bytes = 0;
  let part = feed;
  for (let prev = part.header.prev?.[0]; prev !== undefined; prev = part.header.prev?.[0]) {
    const previous = previousPart(part.header, part.url);
    if (previous === null) return yield noArchive(part, prev);
    const { url: href, hash } = previous;
    if (asked.has(href)) return yield fix(`The archives go round in a circle: ${part.url} names ${href} again.`, MEND);
    if (asked.size > MAX_PARTS || bytes > MAX_BYTES) {
      return yield note(`After ${asked.size - 1} archives no more were looked at.`, "Put more twts into each.");
    }
    asked.add(href);

    const seen = await look(href, { maxBytes: FEED_BYTES, signal });
    if (!isSeen(seen)) return yield seen;
    const archive = asFeed(seen);
    if (!archive) return yield { ...noFeed(seen), todo: MEND };
    yield { archive, hash };
    bytes += seen.bytes.length;
    part = archive;
  }
}

function noArchive({ url }: SeenFeed, prev: string): Finding {
  return fix(
    `${url} has an archive before it that cannot be found: ${quoted(prev)}`,
    'Write "# prev = HASH FILE": the hash of the last twt in that file, and its name.',
  );
}

function checkArchive({ archive, hash }: Archive, identity: string, known: ReadonlySet<string>): Finding[] {
  const { url, header, parsed } = archive;
  const findings = [checkType(archive)].filter(({ level }) => level === "fix");
  const own = header.url?.[0] ?? identity;
  const twice = parsed.twts.filter((twt) => known.has(lineOf(twt))).length;
  if (own !== identity) {
    findings.push(
      fix(
        `${url} says ${quoted(own)} is its address, the feed ${quoted(identity)}.`,
        "Hashes are made with that address: write the feed's into each archive.",
      ),
    );
  }
  if (!lastTwts(parsed.twts).some((twt) => twtHash(identity, twt) === hash)) {
    findings.push(
      fix(
        `The last twt of ${url} is not ${quoted(hash)}, which "# prev" names: the archive is incomplete, or another one.`,
        MEND,
      ),
    );
  }
  if (twice > 0) {
    findings.push(
      note(
        `${counted(twice, "twt")} of ${url} ${twice === 1 ? "stands" : "stand"} in another part of the feed too.`,
        "Keep each in one file.",
      ),
    );
  }
  return findings;
}

/** Of the file, and in time: some files have the newest one first. */
function lastTwts(twts: readonly ParsedTwt[]): ParsedTwt[] {
  const newest = twts.reduce<ParsedTwt | undefined>(
    (last, twt) => (last && last.instant > twt.instant ? last : twt),
    undefined,
  );
  return [twts.at(-1), newest].filter((twt) => twt !== undefined);
}

function lineOf({ timestamp, text }: ParsedTwt): string {
  return `${timestamp}\t${text}`;
}
