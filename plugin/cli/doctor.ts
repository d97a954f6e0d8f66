// plugin/cli/doctor.ts: `eleventy-twtxt doctor` checks a live site as its peers see it.
import { TwtxtError } from "../errors.js";
import { createGuard } from "../http/guard.js";
import { loopbackHostOf } from "../http/loopback.js";
import { isSameUrl } from "../http/same-url.js";
import { parseAddress } from "../keys/address.js";
import type { HostSettings } from "../site/site.js";
import { misuse, optional } from "./arguments.js";
import { command } from "./command.js";
import { checkAddress } from "./doctor/check-address.js";
import { checkArchives } from "./doctor/check-archives.js";
import { checkEndpoint, checkNames, checkRateLimit, endpointOf, notTested } from "./doctor/check-endpoint.js";
import { checkServing, checkText } from "./doctor/check-feed.js";
import { checkMentionLists, listsBeside } from "./doctor/check-lists.js";
import { checkOwnUrl, findFeed, type ServedFeed } from "./doctor/find-feed.js";
import { type Finding, type Probe, probeWith } from "./doctor/finding.js";
import { userAgent } from "./invocation.js";
import { address, flag, HOSTS_OPTION, JSON_OPTION, option, SETTINGS_OPTION, url, type ValuesOf } from "./options.js";
import { counted } from "./output.js";
import { publishedSite, siteAt } from "./site.js";
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
    const own = await ownSite(terminal, values.settings);
    const start = given ?? own?.feedUrl;
    if (start === undefined) throw misuse("doctor", "expected a URL, since there is no built site in this folder.");
    const findings: Finding[] = [];
    for await (const finding of examine(start, checkupOf(values, own, terminal))) {
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

/** The author's own site, from its last build. */
interface OwnSite {
  feedUrl: string;
  urls: HostSettings["urls"];
  /** `user@domain`; `null` for a site without documents of an address. */
  address: string | null;
}

/**
 * @returns `null` where there is no built site here
 * @throws TwtxtError `no-settings` for a settings file that does not exist
 */
async function ownSite(terminal: Terminal, settingsFile: string | undefined): Promise<OwnSite | null> {
  try {
    const site = await siteAt(terminal, settingsFile);
    const { feedUrl, urls } = (await publishedSite(site)).settings;
    return { feedUrl, urls, address: site.settings.authors.find(({ endpoint }) => endpoint !== null)?.address ?? null };
  } catch (error) {
    const isNone = error instanceof TwtxtError && error.code === "no-settings" && settingsFile === undefined;
    if (isNone) return null;
    throw error;
  }
}

/** How to check a site. */
interface Checkup {
  probe: Probe;
  /** Milliseconds since 1970. */
  now: number;
  own: OwnSite | null;
  /** The address to look up; `undefined` for that of the feed. */
  address: string | undefined;
  isFlood: boolean;
}

function checkupOf(values: Values, own: OwnSite | null, terminal: Terminal): Checkup {
  const allowPrivateHosts = [...values["allow-private-host"], ...(own === null ? [] : loopbackHostOf(own.feedUrl))];
  return {
    probe: probeWith(createGuard({ userAgent: userAgent(), allowPrivateHosts })),
    now: terminal.now(),
    own,
    address: values.address,
    isFlood: values.flood,
  };
}

/**
 * Runs all checks. The rate limit comes last, since it refuses all further requests.
 *
 * @param start - the URL of a feed, a page or a site
 */
async function* examine(start: string, checkup: Checkup): AsyncIterable<Finding> {
  const { probe, now, own } = checkup;
  const { feed, findings } = await findFeed(start, probe);
  yield* findings;
  if (!feed) return;

  const site = own && isSameUrl(own.feedUrl, feed.url) ? own : null;
  yield* await checkServing(feed, probe, now);
  yield* await checkOwnUrl(feed, probe);
  yield* checkText(feed, now);
  yield* await checkArchives(feed, probe);
  yield* checkNames(feed);

  const endpoint = endpointOf(feed);
  if (endpoint !== null) {
    const { findings: ofEndpoint, isOurs } = await checkEndpoint(endpoint, probe);
    yield* ofEndpoint;
    if (isOurs) yield* await checkMentionLists(site?.urls ?? listsBeside(endpoint), probe);
  }
  yield* await checkAddressOf(feed, site, checkup);
  if (endpoint !== null) yield await checkLimit(endpoint, feed, checkup.isFlood || site !== null, probe);
}

async function checkAddressOf(feed: ServedFeed, site: OwnSite | null, checkup: Checkup): Promise<Finding[]> {
  const { host, origin } = new URL(feed.url);
  const known = checkup.address ?? site?.address ?? parseAddress(`${feed.header.nick?.[0] ?? ""}@${host}`);
  if (known === null) return [];
  const domain = known.slice(known.indexOf("@") + 1);
  const isExpected = known === site?.address;
  return checkAddress(
    { address: known, origin: domain === host ? origin : `https://${domain}`, isExpected },
    checkup.probe,
  );
}

/** Floods the author's own endpoint only: no shared service, and no endpoint that a stranger's feed names. */
async function checkLimit(endpoint: string, feed: ServedFeed, isOwn: boolean, probe: Probe): Promise<Finding> {
  if (!isOwn) return notTested("If it is your own site, add --flood, or run doctor in the folder of its sources.");
  if (new URL(endpoint).host === new URL(feed.url).host) return checkRateLimit(endpoint, probe);
  return notTested("The endpoint is not on the host of the feed.");
}
