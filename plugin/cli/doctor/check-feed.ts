// plugin/cli/doctor/check-feed.ts: whether a feed is served and written so that all readers can read it.
import { isUtf8 } from "node:buffer";
import { type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isNick } from "../../feed/mention.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { isLoopback } from "../../http/loopback.js";
import { counted } from "../output.js";
import type { ServedFeed } from "./find-feed.js";
import { type Answer, type Finding, fix, isAnswer, note, ok, type Probe, quoted, typeOf } from "./finding.js";

const HOUR = 3600_000;
const DAY_SECONDS = 24 * 3600;

/**
 * @param now - milliseconds since 1970
 * @see PROTOCOL 1.1
 */
export async function checkServing(feed: ServedFeed, probe: Probe, now: number): Promise<Finding[]> {
  return [
    ...checkScheme(feed.url, "The feed"),
    checkType(feed),
    checkOrigins(feed),
    ...checkAge(feed),
    ...checkModified(feed, now),
    ...(await checkHead(feed, probe)),
    ...(await checkConditions(feed, probe, now)),
  ];
}

/** On loopback, http is fine. */
export function checkScheme(url: string, what: string): Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return [];
  return [note(`${what} is served without encryption, at ${url}`, "Serve it over https.")];
}

export function checkType(answer: Answer): Finding {
  const type = answer.headers["content-type"];
  const todo = 'Have your host serve it as "text/plain; charset=utf-8".';
  if (type === undefined) return fix(`${answer.url} is served without a Content-Type.`, todo);
  if (typeOf(answer) !== "text/plain") {
    return fix(`${answer.url} is served as ${quoted(type)}. Some readers accept only plain text.`, todo);
  }
  if (!/;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i.test(type)) {
    return fix(`${answer.url} is served as ${quoted(type)}. Browsers show letters such as ü wrong.`, todo);
  }
  return ok(`${answer.url} is served as text/plain in UTF-8`);
}

function checkOrigins({ headers }: Answer): Finding {
  return headers["access-control-allow-origin"] === "*"
    ? ok("Readers in a browser can read the feed")
    : note("Readers in a browser cannot read the feed.", 'Have your host send "Access-Control-Allow-Origin: *".');
}

function checkAge({ headers }: Answer): Finding[] {
  const seconds = Number(/(?:^|[\s,])max-age="?(\d+)/i.exec(headers["cache-control"] ?? "")?.[1] ?? 0);
  if (seconds <= DAY_SECONDS) return [];
  return [
    fix(
      `Readers may cache the feed for ${Math.round(seconds / DAY_SECONDS)} days, and see nothing new until then.`,
      'Have your host send "Cache-Control: no-cache", or a max-age of an hour.',
    ),
  ];
}

/** Some hosts send the same time for every file. */
function checkModified({ headers, parsed }: ServedFeed, now: number): Finding[] {
  const modified = Date.parse(headers["last-modified"] ?? "");
  const newest = parsed.twts
    .map(({ instant }) => instant)
    .filter((instant) => Date.parse(instant) <= now)
    .reduce((last, instant) => (instant > last ? instant : last), "");
  if (Number.isNaN(modified) || newest === "" || Date.parse(newest) <= modified + HOUR) return [];
  return [
    fix(
      `The Last-Modified header is ${new Date(modified).toISOString()}, but the newest twt is from ${newest}.`,
      "Readers that only ask for changes miss that twt. Have your host send the time of the deploy as Last-Modified, or omit the header.",
    ),
  ];
}

async function checkHead(feed: ServedFeed, probe: Probe): Promise<Finding[]> {
  const head = await probe(feed.url, { method: "HEAD" });
  if (!isAnswer(head)) return [head];
  if (head.status !== 200) {
    return [
      fix(
        `${feed.url} answers HEAD with ${head.status}.`,
        "Some registries drop such a feed. Have your host answer HEAD like GET.",
      ),
    ];
  }
  const others = ["content-type", "last-modified"].filter((name) => head.headers[name] !== feed.headers[name]);
  if (others.length === 0) return [ok("HEAD requests get the same headers as GET")];
  return [
    fix(`HEAD and GET have a different ${others.join(" and ")}.`, "Have your host send the same headers with both."),
  ];
}

/** One peer (timeline) empties its copy of a feed on a 304 without the Last-Modified that it sent. */
async function checkConditions({ url, headers }: Answer, probe: Probe, now: number): Promise<Finding[]> {
  const { etag, "last-modified": modified } = headers;
  const byDate = await probe(url, { headers: { "if-modified-since": modified ?? new Date(now).toUTCString() } });
  const byTag = etag === undefined ? byDate : await probe(url, { headers: { "if-none-match": etag } });
  const copies = [byDate, byTag].filter(isAnswer).filter(({ status }) => status === 304);
  if (copies.length === 0) {
    return [
      note(
        "Readers download the whole feed each time, changed or not.",
        "A host that sends ETag and Last-Modified avoids that.",
      ),
    ];
  }
  const isWrong = (copy: Answer) =>
    copy.headers["last-modified"] === undefined && (modified !== undefined || copy === byDate);
  if (!copies.some(isWrong)) return [ok("Readers with a copy learn whether the feed has changed")];
  return [
    fix(
      'Its "304 Not Modified" has no Last-Modified. One reader then empties its copy of the feed.',
      "Have your host send that header with the 304 too, or answer 200 each time.",
    ),
  ];
}

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
export function checkText(feed: ServedFeed, now: number): Finding[] {
  const faults = [...checkBytes(feed), ...checkLines(feed), ...checkHeader(feed), ...checkTwts(feed.parsed.twts, now)];
  return faults.some(({ level }) => level === "fix") ? faults : [ok("Every line is readable"), ...faults];
}

function checkBytes({ bytes, text }: ServedFeed): Finding[] {
  const findings: Finding[] = [];
  if (text.startsWith("\uFEFF")) {
    findings.push(
      fix("The feed starts with a byte order mark.", "Save it without one: some readers lose the first line."),
    );
  }
  if (text.includes("\r\n")) findings.push(fix("Its lines end with CR LF.", "Save it with LF."));
  if (!isUtf8(bytes)) {
    findings.push(fix("Some of it is not UTF-8.", "Save it as UTF-8: some readers drop other feeds."));
  }
  if (bytes.length > FIRST_MIB) {
    findings.push(
      note(
        "It is larger than 1 MiB. Some readers only read the first MiB.",
        'Move older twts to a file that "# prev = ..." names.',
      ),
    );
  }
  return findings;
}

function checkLines({ text, parsed }: ServedFeed): Finding[] {
  const lines = text.split("\n");
  const findings: Finding[] = [];
  const long = lines.findIndex((line) => Buffer.byteLength(line) >= LINE_LIMIT);
  if (long >= 0) {
    findings.push(fix(`Line ${long + 1} has 64 KiB or more. Some registries stop there.`, "Shorten that twt."));
  }
  if (parsed.skippedLines > 0) {
    const bad = lines.flatMap((line, i) =>
      parseFeed(line).skippedLines > 0 ? [`line ${i + 1}, ${quoted(line)}`] : [],
    );
    findings.push(
      fix(
        `${counted(parsed.skippedLines, "line is", "lines are")} neither a twt nor a comment: ${bad.slice(0, SHOWN_LINES).join("; ")}${bad.length > SHOWN_LINES ? "; ..." : ""}`,
        "A twt is a time such as 2026-01-02T03:04:05Z, one TAB and a text. Fix these lines or delete them.",
      ),
    );
  }
  return findings;
}

function checkHeader({ text, header }: ServedFeed): Finding[] {
  const [nick] = header.nick ?? [];
  const findings: Finding[] = [];
  if (nick === undefined || !isNick(nick)) {
    findings.push(
      fix(
        nick === undefined ? "The feed has no nick." : `Its nick, ${quoted(nick)}, cannot be used in a mention.`,
        'Add a line such as "# nick = alice" at the top.',
      ),
    );
  }
  const loose = text.split("\n").filter((line) => ANY_FIELD.test(line) && !PLAIN_FIELD.test(line));
  if (loose.length > 0) {
    findings.push(
      note(
        `${counted(loose.length, "line")} of the header ${loose.length === 1 ? "is" : "are"} not in the form "# name = value": ${quoted(loose[0] ?? "")}`,
        "Use one # and single spaces: some readers accept nothing else.",
      ),
    );
  }
  return findings;
}

function checkTwts(twts: readonly ParsedTwt[], now: number): Finding[] {
  const findings: Finding[] = [];
  const find = (isSo: (twt: ParsedTwt) => boolean, what: string, todo: string, say = fix) => {
    const found = twts.filter(isSo);
    const [first] = found;
    if (first) findings.push(say(`${counted(found.length, "twt")} ${what}, the first at ${first.timestamp}.`, todo));
  };
  const seconds = new Set<string>();
  const isTaken = ({ instant }: ParsedTwt) => seconds.has(instant) || !seconds.add(instant);

  find(isTaken, "with the same second as another one", "A mention cannot tell them apart: move one by a second.");
  find(
    ({ instant }) => Date.parse(instant) > now,
    "in the future",
    "Some readers drop them: publish them at their time.",
  );
  find(
    ({ text }) => STRAY.test(text),
    "with a TAB or another control character in the text",
    "Some registries drop the whole feed: use spaces instead.",
  );
  find(
    ({ timestamp, instant }) => timestamp !== instant,
    "with a time that is not in the form 2026-01-02T03:04:05Z",
    "Some readers ignore time zones and fractions of a second: use UTC, to the second.",
    note,
  );
  return findings;
}
