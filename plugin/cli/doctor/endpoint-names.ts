// plugin/cli/doctor/endpoint-names.ts: whether all who look for a feed's endpoint find the same one.
import { endpointInHeader, firstEndpoint } from "../../http/feed-file.js";
import { linkTargets } from "../../mentions/send/link-header.js";
import type { SeenFeed } from "./find-feed.js";
import { type Finding, fix, note, ok, quoted } from "./finding.js";

/** The endpoint that a feed names; `null` for none. PROTOCOL 2.2 */
export function endpointOf(feed: SeenFeed): string | null {
  return inField(feed) ?? inLink(feed);
}

/** @see PROTOCOL 1.1 */
export function checkNames(feed: SeenFeed): Finding[] {
  const field = inField(feed);
  const link = inLink(feed);
  const values = feed.header.webmention ?? [];
  if (field === null && link === null) {
    return values.length > 0
      ? [fix(`Its line "# webmention = ${values[0]}" names no address.`, "Write an absolute https URL there.")]
      : [
          note(
            "The feed names no endpoint for mentions.",
            "As long as it does not, nobody can tell you that they mention you.",
          ),
        ];
  }
  if (field === null) {
    return [
      fix(
        `A Link header names the endpoint ${link}, but no line of the feed does.`,
        `Write "# webmention = ${link}" at its top.`,
      ),
    ];
  }
  const findings = checkLine(feed, field);
  if (link === null) {
    return [
      ...findings,
      note(
        `The feed names the endpoint ${field}, but no Link header does. Some clients look there alone.`,
        `Have your host send: Link: <${field}>; rel="webmention"`,
      ),
    ];
  }
  return field === link
    ? [...findings, ok(`It names the endpoint ${field}, and its Link header the same`)]
    : [...findings, fix(`The feed names the endpoint ${field}, but its Link header ${link}`, "Make them the same.")];
}

/** One peer (timeline) takes the first `webmention = ` anywhere in the file, with this very spacing. */
function checkLine({ text, header }: SeenFeed, field: string): Finding[] {
  const more =
    (header.webmention?.length ?? 0) > 1
      ? [note("The feed names more than one endpoint.", "Keep one: the first counts.")]
      : [];
  const at = text.indexOf("webmention = ");
  const line = at < 0 ? "" : (text.slice(text.lastIndexOf("\n", at) + 1).split(/\r?\n/, 1)[0] ?? "");
  const value = /^# webmention = (\S+)$/.exec(line)?.[1] ?? "";
  if (URL.canParse(value) && firstEndpoint([value], value) === field) return more;
  const found = line === "" ? "and find none" : `which is ${quoted(line)}`;
  return [
    ...more,
    fix(
      `Some senders look for the first "webmention = " of the file, ${found}.`,
      `Write "# webmention = ${field}" at its top, just so.`,
    ),
  ];
}

function inField({ header, url }: SeenFeed): string | null {
  return endpointInHeader(header, url);
}

function inLink({ headers, url }: SeenFeed): string | null {
  return firstEndpoint(linkTargets(headers.link ?? "", "webmention"), url);
}
