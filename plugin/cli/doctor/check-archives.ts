// plugin/cli/doctor/check-archives.ts: whether the archives of a feed are complete.
import type { ParsedTwt } from "../../feed/feed.js";
import { twtHash } from "../../feed/hash.js";
import { FEED_BYTES, previousPart } from "../../http/feed-file.js";
import { counted } from "../output.js";
import { checkType } from "./check-feed.js";
import { asFeed, noFeed, type ServedFeed } from "./find-feed.js";
import { type Finding, fix, isAnswer, note, ok, type Probe, quoted } from "./finding.js";

/** More than forty years of monthly archives. */
const MAX_PARTS = 500;
const MAX_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 60_000;
const REBUILD = "Build and deploy the site again: until then readers miss older twts.";

interface Archive {
  archive: ServedFeed;
  /** In the field `prev` that names it. */
  hash: string;
}

/** @see PROTOCOL 1.4 */
export async function checkArchives(feed: ServedFeed, probe: Probe): Promise<Finding[]> {
  const findings: Finding[] = [];
  const known = new Set(feed.parsed.twts.map(lineOf));
  const identity = feed.header.url?.[0] ?? feed.url;
  const inFeed = known.size;
  let count = 0;
  for await (const next of archivesOf(feed, probe)) {
    if ("level" in next) {
      findings.push(next);
      continue;
    }
    count += 1;
    findings.push(...checkArchive(next, identity, known));
    for (const twt of next.archive.parsed.twts) known.add(lineOf(twt));
  }
  if (count === 0) return findings;
  const what = `${counted(count, "archive")} found, with ${counted(known.size - inFeed, "older twt")}`;
  return [ok(what), ...findings];
}

/** The archives, newest first, up to the last one or the first fault. */
async function* archivesOf(feed: ServedFeed, probe: Probe): AsyncIterable<Archive | Finding> {
  const signal = AbortSignal.timeout(WAIT_MS);
  const asked = new Set([feed.url]);
  let bytes = 0;
  let part = feed;
  for (let prev = part.header.prev?.[0]; prev !== undefined; prev = part.header.prev?.[0]) {
    const previous = previousPart(part.header, part.url);
    if (previous === null) return yield noArchive(part, prev);
    const { url: href, hash } = previous;
    if (asked.has(href)) return yield fix(`The archives form a loop: ${part.url} names ${href} again.`, REBUILD);
    if (asked.size > MAX_PARTS || bytes > MAX_BYTES) {
      return yield note(`Only the first ${asked.size - 1} archives were checked.`, "Put more twts into each.");
    }
    asked.add(href);

    const answer = await probe(href, { maxBytes: FEED_BYTES, signal });
    if (!isAnswer(answer)) return yield answer;
    const archive = asFeed(answer);
    if (!archive) return yield { ...noFeed(answer), todo: REBUILD };
    yield { archive, hash };
    bytes += answer.bytes.length;
    part = archive;
  }
}

function noArchive({ url }: ServedFeed, prev: string): Finding {
  return fix(
    `${url} names a previous archive that cannot be found: ${quoted(prev)}`,
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
        `${url} says that its URL is ${quoted(own)}, but the feed says ${quoted(identity)}.`,
        "Hashes are made with that URL: write the URL of the feed into each archive.",
      ),
    );
  }
  if (!lastTwts(parsed.twts).some((twt) => twtHash(identity, twt) === hash)) {
    findings.push(
      fix(
        `The last twt of ${url} is not ${quoted(hash)}, which "# prev" names: the archive is incomplete, or a different one.`,
        REBUILD,
      ),
    );
  }
  if (twice > 0) {
    findings.push(
      note(
        `${counted(twice, "twt")} of ${url} ${twice === 1 ? "is" : "are"} in another part of the feed too.`,
        "Keep each in one file.",
      ),
    );
  }
  return findings;
}

/** The last twt in the file, and the newest: some files have the newest first. */
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
