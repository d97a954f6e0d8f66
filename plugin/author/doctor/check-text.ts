// plugin/author/doctor/check-text.ts: whether all readers can read the lines of a feed, and whether its archives are complete.
import { isUtf8 } from "node:buffer";
import { type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { twtHash } from "../../feed/hash.js";
import { isNick } from "../../feed/mention.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { FEED_BYTES, previousPart } from "../../http/feed-file.js";
import { counted } from "../amounts.js";
import { type Finding, fix, note, ok, type Probe, quoted, runChecks } from "./check.js";
import { asFeed, checkType, findNewest, noFeed, type ServedFeed } from "./check-feed.js";

/** The limit of some readers. */
const FIRST_MIB = 1024 * 1024;
const SHOWN_LINES = 3;
/** The only form that some parsers accept. */
const PLAIN_FIELD = /^# [A-Za-z0-9_-]+ = \S/;
const ANY_FIELD = /^#[ \t]*[A-Za-z0-9_-]+[ \t]*=/;
/** A TAB, and characters that Python treats as the end of a line. */
const STRAY = /[\t\v\f\x1c-\x1e\x85\u2029]/;

/**
 * @param now - milliseconds since 1970
 * @see PROTOCOL 1.1, 1.2
 */
export function* checkText(feed: ServedFeed, now: number): Generator<Finding> {
  const faults = [...checkBytes(feed), ...checkLines(feed), ...checkFields(feed), ...checkTwts(feed.parsed.twts, now)];
  if (!faults.some(({ level }) => level === "fix")) yield ok("Every line of the feed is readable");
  yield* faults;
}

function* checkBytes({ bytes, text }: ServedFeed): Generator<Finding> {
  if (text.startsWith("\uFEFF")) {
    yield fix(
      "The feed starts with an invisible character (a byte order mark).",
      "Save it without one: some readers lose the first line.",
    );
  }
  if (text.includes("\r\n"))
    yield fix("The lines of the feed end as on Windows (CR LF).", "Save it with line ends as on Linux and macOS (LF).");
  if (!isUtf8(bytes))
    yield fix("Some letters of the feed are not in UTF-8.", "Save it as UTF-8: some readers drop other feeds.");
  if (bytes.length > FIRST_MIB) {
    const todo = 'Move older twts to a file that "# prev = ..." names.';
    yield note("The feed is larger than 1 MiB. Some readers only read the first MiB.", todo);
  }
}

function* checkLines({ text, parsed: { skippedLines } }: ServedFeed): Generator<Finding> {
  const lines = text.split("\n");
  const long = lines.findIndex((line) => Buffer.byteLength(line) >= LINE_LIMIT);
  if (long >= 0) yield fix(`Line ${long + 1} has 64 KiB or more. Some registries stop there.`, "Shorten that twt.");
  if (skippedLines === 0) return;
  const bad = lines.flatMap((line, i) => (parseFeed(line).skippedLines > 0 ? [`line ${i + 1}, ${quoted(line)}`] : []));
  const shown = [...bad.slice(0, SHOWN_LINES), ...(bad.length > SHOWN_LINES ? ["..."] : [])].join("; ");
  yield fix(
    `${counted(skippedLines, "line is", "lines are")} neither a twt nor a comment: ${shown}`,
    "A twt is a time such as 2026-01-02T03:04:05Z, one TAB and a text. Fix these lines or delete them.",
  );
}

function* checkFields({ text, header }: ServedFeed): Generator<Finding> {
  const [nick] = header.nick ?? [];
  if (nick === undefined || !isNick(nick)) {
    const what =
      nick === undefined
        ? "The feed has no nick."
        : `The nick of the feed, ${quoted(nick)}, cannot be used in a mention.`;
    yield fix(what, 'Add a line such as "# nick = alice" at the top.');
  }
  const loose = text.split("\n").filter((line) => ANY_FIELD.test(line) && !PLAIN_FIELD.test(line));
  if (loose.length === 0) return;
  yield note(
    `${counted(loose.length, "line of the header is", "lines of the header are")} not in the form "# name = value": ${quoted(loose[0] ?? "")}`,
    "Use one # and single spaces: some readers accept nothing else.",
  );
}

function* checkTwts(twts: readonly ParsedTwt[], now: number): Generator<Finding> {
  const instants = new Set<string>();
  const isTaken = ({ instant }: ParsedTwt) => instants.has(instant) || !instants.add(instant);
  const kinds: [(twt: ParsedTwt) => boolean, what: string, todo: string, say?: typeof note][] = [
    [isTaken, "with the same second as another one", "A mention cannot tell them apart: move one by a second."],
    [
      ({ instant }) => Date.parse(instant) > now,
      "in the future",
      "Some readers drop them: publish them at their time.",
    ],
    [
      ({ text }) => STRAY.test(text),
      "with a TAB or another control character in the text",
      "Some registries drop the whole feed: use spaces instead.",
    ],
    [
      ({ timestamp, instant }) => timestamp !== instant,
      "with a time that is not in the form 2026-01-02T03:04:05Z",
      "Some readers ignore time zones and fractions of a second: use UTC, to the second.",
      note,
    ],
  ];
  for (const [isSo, what, todo, say = fix] of kinds) {
    const [first, ...others] = twts.filter(isSo);
    if (first) yield say(`${counted(1 + others.length, "twt")} ${what}, the first at ${first.timestamp}.`, todo);
  }
}

/** More than forty years of monthly archives. */
const MAX_PARTS = 500;
const MAX_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 60_000;
const REBUILD = "Build and deploy the site again: until then readers miss older twts.";

/** @see PROTOCOL 1.4 */
export async function* checkArchives(feed: ServedFeed, probe: Probe): AsyncGenerator<Finding> {
  const identity = feed.header.url?.[0] ?? feed.url;
  const known = new Set(feed.parsed.twts.map(formatTwt));
  const inFeed = known.size;
  const findings: Finding[] = [];
  let count = 0;
  const check = (archive: ServedFeed, hash: string) => {
    findings.push(...checkArchive(archive, hash, identity, known));
    for (const twt of archive.parsed.twts) known.add(formatTwt(twt));
    count += 1;
  };
  for await (const fault of runChecks(readArchives(feed, probe, check))) findings.push(fault);
  if (count > 0) yield ok(`${counted(count, "archive")} found, with ${counted(known.size - inFeed, "older twt")}`);
  yield* findings;
}

/**
 * Reads the archives, newest first, up to the last one or the first fault.
 *
 * @param check - is called with each archive and the hash in the field `prev` that names it
 */
async function* readArchives(
  feed: ServedFeed,
  probe: Probe,
  check: (archive: ServedFeed, hash: string) => void,
): AsyncGenerator<Finding> {
  const signal = AbortSignal.timeout(WAIT_MS);
  const asked = new Set([feed.url]);
  let bytes = 0;
  let part = feed;
  for (let prev = part.header.prev?.[0]; prev !== undefined; prev = part.header.prev?.[0]) {
    const previous = previousPart(part.header, part.url);
    if (previous === null) {
      const todo = 'Write "# prev = HASH FILE": the hash of the last twt in that file, and its name.';
      return yield fix(`${part.url} names a previous archive that cannot be found: ${quoted(prev)}`, todo);
    }
    const { url, hash } = previous;
    if (asked.has(url)) return yield fix(`The archives form a loop: ${part.url} names ${url} again.`, REBUILD);
    if (asked.size > MAX_PARTS || bytes > MAX_BYTES) {
      return yield note(`Only the first ${asked.size - 1} archives were checked.`, "Put more twts into each.");
    }
    asked.add(url);

    const answer = await probe(url, { maxBytes: FEED_BYTES, signal });
    const archive = asFeed(answer);
    if (!archive) return yield { ...noFeed(answer), todo: REBUILD };
    check(archive, hash);
    bytes += answer.bytes.length;
    part = archive;
  }
}

function* checkArchive(
  archive: ServedFeed,
  hash: string,
  identity: string,
  known: ReadonlySet<string>,
): Generator<Finding> {
  const { url, header, parsed } = archive;
  const type = checkType(archive);
  if (type.level === "fix") yield type;
  const own = header.url?.[0] ?? identity;
  if (own !== identity) {
    const what = `${url} says that its URL is ${quoted(own)}, but the feed says ${quoted(identity)}.`;
    yield fix(what, "Hashes are made with that URL: write the URL of the feed into each archive.");
  }
  // Some files have the newest twt first.
  const lastTwts = [parsed.twts.at(-1), findNewest(parsed.twts)].filter((twt) => twt !== undefined);
  if (!lastTwts.some((twt) => twtHash(identity, twt) === hash)) {
    yield fix(
      `The last twt of ${url} is not ${quoted(hash)}, which "# prev" names: the archive is incomplete, or a different one.`,
      REBUILD,
    );
  }
  const twice = parsed.twts.filter((twt) => known.has(formatTwt(twt))).length;
  if (twice === 0) return;
  const what = `${counted(twice, "twt")} of ${url} ${twice === 1 ? "is" : "are"} in another part of the feed too.`;
  yield note(what, "Keep each in one file.");
}

function formatTwt({ timestamp, text }: ParsedTwt): string {
  return `${timestamp}\t${text}`;
}
