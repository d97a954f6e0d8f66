// plugin/cli/doctor.ts: `eleventy-twtxt doctor` looks at a live site as its peers see it.
import { createGuard } from "../http/guard.js";
import { loopbackHostOf } from "../http/loopback.js";
import { parseAddress } from "../keys/address.js";
import { allowedHosts } from "./allowed-hosts.js";
import { misuse, readArguments } from "./command.js";
import { examination, type Visit } from "./doctor/examination.js";
import { counted, type Finding } from "./doctor/finding.js";
import { looking } from "./doctor/look.js";
import { type OwnSite, ownSite } from "./doctor/own-site.js";
import type { Terminal } from "./terminal.js";
import { version } from "./version.js";

export const name = "doctor";
export const summary = "checks a live site as others see it";
export const help = `Usage: eleventy-twtxt doctor [URL] [options]

Looks at a published feed and its archives, at the endpoint that receives its mentions and at the
documents of its author's address, as others do, and says what to mend. URL is that of the feed or
of the site; without it, the site of this folder. Exit code 0 where all is well, 1 where something
is to be mended.

Of your own site (that of this folder, or with --flood) it tries out the rate limit too: by 70 wrong
mentions to the endpoint, if that is on the host of the feed.

  --flood                this is my own site: try out its rate limit
  --address USER@DOMAIN  the address to look up (default: the nick of the feed, at its host)
  --json                 prints the findings as JSON
  --settings FILE        the settings of your site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                         a host of your own network that may be asked all the same; can be repeated

Example:
  $ eleventy-twtxt doctor https://alice.example
  ok    https://alice.example/ names the feed https://alice.example/twtxt.txt
  fix   https://alice.example/twtxt.txt is served as "text/html". Some readers take plain text alone.
        Have your host serve it as "text/plain; charset=utf-8".`;

const OPTIONS = {
  flood: { type: "boolean" },
  address: { type: "string" },
  json: { type: "boolean" },
  "allow-private-host": { type: "string", multiple: true },
} as const;

const LABELS: Record<Finding["level"], string> = { ok: "ok  ", note: "note", fix: "fix " };

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const own = await ownSite(terminal, values.settings);
  const url = urlOf(positionals, own);
  const userAgent = `eleventy-plugin-twtxt/${version()}`;
  const allowPrivateHosts = [
    ...allowedHosts(values["allow-private-host"], name),
    ...(own === null ? [] : loopbackHostOf(own.feedUrl)),
  ];
  const visit: Visit = {
    look: looking(createGuard({ userAgent, allowPrivateHosts })),
    now: terminal.now(),
    own,
    address: addressOf(values.address),
    isFlood: values.flood ?? false,
  };

  const findings: Finding[] = [];
  for await (const finding of examination(url, visit)) {
    findings.push(finding);
    if (!values.json) print(finding, terminal);
  }
  if (values.json) terminal.print(JSON.stringify(findings, null, 2));
  const number = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const faults = number("fix");
  terminal.say(`${faults === 0 ? "Nothing" : counted(faults, "thing")} to mend, ${counted(number("note"), "note")}.`);
  return faults === 0 ? 0 : 1;
}

function urlOf([given, ...more]: string[], own: OwnSite | null): string {
  if (more.length > 0) throw misuse(`${name}: expected one URL.`, name);
  const url = given ?? own?.feedUrl;
  if (url === undefined) throw misuse(`${name}: expected a URL, since there is no built site in this folder.`, name);
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw misuse(`${name}: expected a URL such as "https://alice.example/twtxt.txt", got "${url}".`, name);
}

function addressOf(given: string | undefined): string | null {
  const address = given === undefined ? null : parseAddress(given);
  if (given === undefined || address !== null) return address;
  throw misuse(`${name}: expected an address such as alice@alice.example, got "${given}".`, name);
}

function print({ level, what, todo }: Finding, terminal: Terminal): void {
  terminal.print(`${LABELS[level]}  ${what}`);
  if (todo !== undefined) terminal.print(`      ${todo}`);
}
