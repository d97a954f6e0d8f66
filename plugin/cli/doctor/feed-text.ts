// plugin/cli/doctor/feed-text.ts: whether a feed is written so that all of its readers can read it.
import { isUtf8 } from "node:buffer";
import { type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isNick } from "../../feed/mention.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import type { SeenFeed } from "./find-feed.js";
import { counted, type Finding, fix, note, ok, quoted } from "./finding.js";

/** What some readers take at the most. */
const FIRST_MIB = 1024 * 1024;
const SHOWN_LINES = 3;
/** What some parsers accept alone. */
const PLAIN_FIELD = /^# [A-Za-z0-9_-]+ = \S/;
const ANY_FIELD = /^#[ \t]*[A-Za-z0-9_-]+[ \t]*=/;
/** A TAB, and what a reader in Python takes for the end of a line. */
const STRAY = /[\t\v\f\x1c-\x1e\x85\u2029]/;

/**
 * @param now - milliseconds since 1970
 * @see PROTOCOL 1.1, 1.2
 */
export function checkText(feed: SeenFeed, now: number): Finding[] {
  const faults = [...checkBytes(feed), ...checkLines(feed), ...checkHeader(feed), ...checkTwts(feed.parsed.twts, now)];
  return faults.some(({ level }) => level === "fix") ? faults : [ok("Every line of it can be read"), ...faults];
}

function checkBytes({ bytes, text }: SeenFeed): Finding[] {
  const findings: Finding[] = [];
  if (text.startsWith("\uFEFF")) {
    findings.push(fix("The feed starts with a byte order mark.", "Save it without: some readers lose its first line."));
  }
  if (text.includes("\r\n")) findings.push(fix("Its lines end with CR LF.", "Save it with LF alone."));
  if (!isUtf8(bytes)) {
    findings.push(fix("It is not UTF-8 throughout.", "Save it as UTF-8: some readers drop a feed that is not."));
  }
  if (bytes.length > FIRST_MIB) {
    findings.push(
      note(
        "It has more than 1 MiB. Some readers take the first one alone.",
        'Move older twts to a file that "# prev = ..." names.',
      ),
    );
  }
  return findings;
}

function checkLines({ text, parsed }: SeenFeed): Finding[] {
  const lines = text.split("\n");
  const findings: Finding[] = [];
  const long = lines.findIndex((line) => Buffer.byteLength(line) >= LINE_LIMIT);
  if (long >= 0) {
    findings.push(fix(`Line ${long + 1} has 64 KiB or more. Some registries read no further.`, "Shorten that twt."));
  }
  if (parsed.skippedLines > 0) {
    const bad = lines.flatMap((line, i) =>
      parseFeed(line).skippedLines > 0 ? [`line ${i + 1}, ${quoted(line)}`] : [],
    );
    findings.push(
      fix(
        `${counted(parsed.skippedLines, "line is", "lines are")} neither a twt nor a comment: ${bad.slice(0, SHOWN_LINES).join("; ")}${bad.length > SHOWN_LINES ? "; ..." : ""}`,
        "A twt is a time such as 2026-01-02T03:04:05Z, one TAB and a text. Mend these lines or take them out.",
      ),
    );
  }
  return findings;
}

function checkHeader({ text, header }: SeenFeed): Finding[] {
  const [nick] = header.nick ?? [];
  const findings: Finding[] = [];
  if (nick === undefined || !isNick(nick)) {
    findings.push(
      fix(
        nick === undefined ? "The feed has no nick." : `Its nick, ${quoted(nick)}, cannot stand in a mention.`,
        'Write a line such as "# nick = alice" at its top.',
      ),
    );
  }
  const loose = text.split("\n").filter((line) => ANY_FIELD.test(line) && !PLAIN_FIELD.test(line));
  if (loose.length > 0) {
    findings.push(
      note(
        `${counted(loose.length, "line")} of its header ${loose.length === 1 ? "is" : "are"} not written as "# name = value": ${quoted(loose[0] ?? "")}`,
        "One # and single spaces: some readers understand nothing else.",
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
    if (first) findings.push(say(`${counted(found.length, "twt")} ${what}, first that of ${first.timestamp}.`, todo));
  };
  const seconds = new Set<string>();
  const isTaken = ({ instant }: ParsedTwt) => seconds.has(instant) || !seconds.add(instant);

  find(isTaken, "in the very second of another one", "A mention cannot tell them apart: move one by a second.");
  find(
    ({ instant }) => Date.parse(instant) > now,
    "of the future",
    "Some readers drop them: publish them when their time has come.",
  );
  find(
    ({ text }) => STRAY.test(text),
    "with a TAB or another control character in the text",
    "Some registries drop a whole feed for that: put spaces in their place.",
  );
  find(
    ({ timestamp, instant }) => timestamp !== instant,
    "with a time in another form than 2026-01-02T03:04:05Z",
    "Some readers lose a time zone or fractions of a second: write times in UTC, to the second.",
    note,
  );
  return findings;
}
