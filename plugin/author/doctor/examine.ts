// plugin/author/doctor/examine.ts: checks a live site as its peers see it.
import { isSameUrl } from "../../http/same-url.js";
import { parseAddress, readDomain } from "../../keys/address.js";
import { listCapabilities } from "../../site/routes.js";
import { SqliteStore } from "../../store/sqlite.js";
import { canParseUrl, hostAndPort, isSameHost } from "../../url.js";
import { typed } from "../invocation.js";
import type { AuthorChoice, HostChoice, Machine } from "../machine.js";
import { createNetwork } from "../network.js";
import { checkAccounts, checkToldCopies } from "../network-accounts.js";
import { ifBuilt, loadSite, publishedSite } from "../site.js";
import { siteStore } from "../site-store.js";
import { type Finding, fix, ok, type Probe, probeWith, runChecks } from "./check.js";
import { type AddressToCheck, checkAddress } from "./check-address.js";
import {
  checkComments,
  checkEndpoint,
  checkNames,
  checkRateLimit,
  findEndpoint,
  listsBeside,
  notTested,
} from "./check-endpoint.js";
import { checkConditions, checkHead, checkHeaders, checkOwnUrl, findFeed, type ServedFeed } from "./check-feed.js";
import { checkArchives, checkText } from "./check-text.js";

export interface ExamineChoice extends Pick<AuthorChoice, "settings">, HostChoice {
  /** The address to look up; `undefined` for the nick of the feed, at its host. */
  address: string | undefined;
  /** Whether to test the rate limit of a site that is not the one in this folder. */
  flood: boolean;
}

type OwnSite = Awaited<ReturnType<typeof ownSite>>;

/** The author's own site, from its last build. Its address is `null` if it has no documents of one. */
async function ownSite(machine: Machine, settingsFile: string | undefined) {
  const site = await loadSite(machine, settingsFile);
  const { settings } = await publishedSite(site);
  const { feedUrl, urls, hasEndpoints } = settings;
  const hasComments = hasEndpoints && listCapabilities(settings).includes("comments");
  return {
    feedUrl,
    urls,
    hasComments,
    address: site.settings.authors.find(({ endpoint }) => endpoint !== null)?.address ?? null,
  };
}

/**
 * All checks of a live site, in the order in which they are shown.
 *
 * @param given - the URL of a feed or a site; `null` for the site in this folder
 * @returns `null` if neither is there
 */
export async function createChecks(given: string | null, choice: ExamineChoice, machine: Machine) {
  const own = await ifBuilt(choice.settings, ownSite(machine, choice.settings));
  const start = given ?? own?.feedUrl;
  return start === undefined ? null : runChecks(examine(start, own, choice, machine));
}

/** Runs all checks. The rate limit comes last, since it refuses all further requests. */
async function* examine(
  start: string,
  own: OwnSite | null,
  choice: ExamineChoice,
  machine: Machine,
): AsyncGenerator<Finding> {
  // Other sites must not lead this check to what a proxy shows to its own machine only.
  const isOwn = own !== null && canParseUrl(start) && isSameHost(start, own.feedUrl);
  const ownHost = isOwn ? [hostAndPort(new URL(own.feedUrl))] : [];
  const { ask } = createNetwork({ "allow-private-host": [...choice["allow-private-host"], ...ownHost] });
  const probe = probeWith(ask);
  const now = machine.now();
  const feed = yield* findFeed(start, probe);
  if (!feed) return;

  const site = own && isSameUrl(own.feedUrl, feed.url) ? own : null;
  const endpoint = findEndpoint(feed);
  const address = chooseAddress(feed, site, choice);
  if (site) yield* checkStore(choice.settings, machine);
  if (site) yield* checkAccounts(machine.environment, choice, machine);
  if (site) yield* checkToldCopies({ identity: undefined, url: undefined, ...choice }, machine);
  yield* runChecks(
    checkHeaders(feed, now),
    checkHead(feed, probe),
    checkConditions(feed, probe, now),
    checkOwnUrl(feed, probe),
    checkText(feed, now),
    checkArchives(feed, probe),
    checkNames(feed),
    ...(endpoint === null ? [] : [checkEndpoint(endpoint, site?.urls ?? listsBeside(endpoint), probe)]),
    ...(site?.hasComments ? [checkComments(site.urls.comments, probe)] : []),
    ...(address === null ? [] : [checkAddress(address, probe)]),
    ...(endpoint === null ? [] : [checkLimit(endpoint, feed, choice.flood || site !== null, probe)]),
  );
}

function chooseAddress(feed: ServedFeed, site: OwnSite | null, choice: ExamineChoice): AddressToCheck | null {
  const { host, origin } = new URL(feed.url);
  const address = choice.address ?? site?.address ?? parseAddress(`${feed.header.nick?.[0] ?? ""}@${host}`);
  if (address === null) return null;
  const domain = readDomain(address);
  return {
    address,
    origin: domain === host ? origin : `https://${domain}`,
    isExpected: address === site?.address,
  };
}

/** Floods the author's own endpoint only: no shared service, and no endpoint that a stranger's feed names. */
async function* checkLimit(endpoint: string, feed: ServedFeed, isOwn: boolean, probe: Probe): AsyncGenerator<Finding> {
  if (!isOwn) {
    const todo = "If it is, add --flood, or run doctor in the folder of its sources.";
    yield notTested("The site is not known to be yours", todo);
  } else if (!isSameHost(endpoint, feed.url)) {
    yield notTested(
      "The endpoint is not on the host of the feed",
      "Nothing to do, unless the endpoint is yours, too: then limit there what one IP address can send.",
    );
  } else yield* checkRateLimit(endpoint, probe);
}

/** Checks nothing if the data are not in a folder of this machine. @throws TwtxtError `no-settings`; `store-failed` */
async function* checkStore(settings: string | undefined, machine: Machine): AsyncGenerator<Finding> {
  const site = await loadSite(machine, settings);
  if (site.settings.host === "netlify") return;
  const { store, place } = await siteStore(site, { command: "doctor", store: undefined }, machine);
  if (!(store instanceof SqliteStore) || (await store.list("", { limit: 1 })).length === 0) return;
  const damage = await store.check();
  if (damage.length === 0) yield ok(`The data in ${place} is intact.`);
  else {
    const named = damage.slice(0, 5).join("; ");
    yield fix(
      `The data in ${place} is damaged: ${named}.`,
      `Stop serve, and restore a backup: ${typed("restore FILE --force")}`,
    );
  }
}
