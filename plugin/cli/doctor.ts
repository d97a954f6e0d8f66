// plugin/cli/doctor.ts: `eleventy-twtxt doctor` checks a live site as its peers see it.

import { counted } from "../author/amounts.js";
import { type Finding, type Probe, probeWith, runChecks } from "../author/doctor/check.js";
import { type AddressToCheck, checkAddress } from "../author/doctor/check-address.js";
import {
  checkEndpoint,
  checkNames,
  checkRateLimit,
  endpointOf,
  listsBeside,
  notTested,
} from "../author/doctor/check-endpoint.js";
import {
  checkConditions,
  checkHead,
  checkHeaders,
  checkOwnUrl,
  findFeed,
  type ServedFeed,
} from "../author/doctor/check-feed.js";
import { checkArchives, checkText } from "../author/doctor/check-text.js";
import { misuse, userAgent } from "../author/invocation.js";
import { ifBuilt, publishedSite, siteAt } from "../author/site.js";
import { createGuard } from "../http/guard.js";
import { isSameHost, loopbackHostOf } from "../http/hosts.js";
import { isSameUrl } from "../http/same-url.js";
import { parseAddress } from "../keys/address.js";
import { optional } from "./arguments.js";
import { command } from "./command.js";
import { address, flag, HOSTS_OPTION, JSON_OPTION, option, SETTINGS_OPTION, url, type ValuesOf } from "./options.js";
import type { Terminal } from "./terminal.js";

const OPTIONS = {
  flood: flag("tests the rate limit; only for a site of your own"),
  address: option(
    address("alice@alice.example"),
    "the address to look up (default: the nick of the feed, at its host)",
  ),
  ...JSON_OPTION,
  ...HOSTS_OPTION,
  ...SETTINGS_OPTION,
};

type Values = ValuesOf<typeof OPTIONS>;

export const doctor = command({
  name: "doctor",
  summary: "checks a live site as others see it",
  usage: "[URL] [options]",
  about: `Checks a published feed and its archives, the endpoint that receives its mentions, and the documents of its author's address, as other sites see them, and says what to fix. URL is the feed or the site; the default is the site in this folder.

On your own site (in this folder, or with --flood) it also tests the rate limit, with 70 invalid mentions, if the endpoint is on the host of the feed.`,
  options: OPTIONS,
  words: optional(url("https://alice.example/twtxt.txt")),
  notes: "Exit code 0 if there is nothing to fix, else 1.",
  example: `$ eleventy-twtxt doctor https://alice.example
ok    https://alice.example/ names the feed https://alice.example/tw.txt
fix   https://alice.example/tw.txt is served as "text/html". Some readers accept only plain text.
      Have your host serve it as "text/plain; charset=utf-8".`,
  async run(values, given, terminal) {
    const own = await ifBuilt(values.settings, ownSite(terminal, values.settings));
    const start = given ?? own?.feedUrl;
    if (start === undefined) throw misuse("doctor", "expected a URL, since there is no built site in this folder.");
    const findings: Finding[] = [];
    for await (const finding of runChecks(examine(start, own, values, terminal))) {
      findings.push(finding);
      if (!values.json) for (const line of linesOf(finding)) terminal.print(line);
    }
    if (values.json) terminal.print(JSON.stringify(findings, null, 2));
    const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
    const faults = count("fix");
    terminal.say(`${faults === 0 ? "Nothing" : counted(faults, "thing")} to fix, ${counted(count("note"), "note")}.`);
    return faults === 0 ? 0 : 1;
  },
});

function linesOf({ level, what, todo }: Finding): string[] {
  return [`${level.padEnd(4)}  ${what}`, ...(todo === undefined ? [] : [`      ${todo}`])];
}

type OwnSite = Awaited<ReturnType<typeof ownSite>>;

/** The author's own site, from its last build. Its address is `null` if it has no documents of one. */
async function ownSite(terminal: Terminal, settingsFile: string | undefined) {
  const site = await siteAt(terminal, settingsFile);
  const { feedUrl, urls } = (await publishedSite(site)).settings;
  return { feedUrl, urls, address: site.settings.authors.find(({ endpoint }) => endpoint !== null)?.address ?? null };
}

/** Runs all checks. The rate limit comes last, since it refuses all further requests. */
async function* examine(
  start: string,
  own: OwnSite | null,
  values: Values,
  terminal: Terminal,
): AsyncGenerator<Finding> {
  const allowPrivateHosts = [...values["allow-private-host"], ...(own === null ? [] : loopbackHostOf(own.feedUrl))];
  const probe = probeWith(createGuard({ userAgent: userAgent(), allowPrivateHosts }));
  const now = terminal.now();
  const feed = yield* findFeed(start, probe);
  if (!feed) return;

  const site = own && isSameUrl(own.feedUrl, feed.url) ? own : null;
  const endpoint = endpointOf(feed);
  const address = addressOf(feed, site, values);
  yield* runChecks(
    checkHeaders(feed, now),
    checkHead(feed, probe),
    checkConditions(feed, probe, now),
    checkOwnUrl(feed, probe),
    checkText(feed, now),
    checkArchives(feed, probe),
    checkNames(feed),
    ...(endpoint === null ? [] : [checkEndpoint(endpoint, site?.urls ?? listsBeside(endpoint), probe)]),
    ...(address === null ? [] : [checkAddress(address, probe)]),
    ...(endpoint === null ? [] : [checkLimit(endpoint, feed, values.flood || site !== null, probe)]),
  );
}

function addressOf(feed: ServedFeed, site: OwnSite | null, values: Values): AddressToCheck | null {
  const { host, origin } = new URL(feed.url);
  const address = values.address ?? site?.address ?? parseAddress(`${feed.header.nick?.[0] ?? ""}@${host}`);
  if (address === null) return null;
  const domain = address.slice(address.indexOf("@") + 1);
  return {
    address,
    origin: domain === host ? origin : `https://${domain}`,
    isExpected: address === site?.address,
  };
}

/** Floods the author's own endpoint only: no shared service, and no endpoint that a stranger's feed names. */
async function* checkLimit(endpoint: string, feed: ServedFeed, isOwn: boolean, probe: Probe): AsyncGenerator<Finding> {
  if (!isOwn) yield notTested("If it is your own site, add --flood, or run doctor in the folder of its sources.");
  else if (!isSameHost(endpoint, feed.url)) yield notTested("The endpoint is not on the host of the feed.");
  else yield* checkRateLimit(endpoint, probe);
}
