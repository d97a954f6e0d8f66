// plugin/cli/serve.ts: `eleventy-twtxt serve` runs the site and its endpoints on any Node host.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { userAgent } from "../author/invocation.js";
import { loadSite, publishedSite, type Site } from "../author/site.js";
import { siteFolder, siteStore, useStoreToServe } from "../author/site-store.js";
import { TwtxtError } from "../errors.js";
import { FEATURES, featuresOff } from "../host/channels.js";
import { CompressedCopies } from "../host/compressed-copies.js";
import { listMissingAccounts } from "../host/copied-posts.js";
import { Followers } from "../host/followers.js";
import { countAnswer } from "../host/metrics-server.js";
import { findAddress } from "../host/node-request.js";
import { type NodeServer, nodeServer } from "../host/node-server.js";
import { rateLimit } from "../host/rate-limit.js";
import { siteFiles } from "../host/site-files.js";
import { SiteHost } from "../host/site-host.js";
import { siteServices } from "../host/site-services.js";
import { BackgroundWork } from "../host/work.js";
import { loadAll } from "../later.js";
import { NETWORK_NAMES } from "../options/syndicate.js";
import { readPrefix } from "../site/routes.js";
import type { HostSettings, PublishedSite } from "../site/site.js";
import { markInUse } from "../store/processes.js";
import type { StreamingStore } from "../store/store.js";
import { canParseUrl } from "../url.js";
import { command } from "./command.js";
import {
  FOLDER,
  HOSTS_OPTION,
  type Kind,
  number,
  option,
  SETTINGS_OPTION,
  text,
  type ValuesOf,
  withDefault,
} from "./options.js";
import { REPORT_OPTIONS, Reports } from "./serve-reports.js";
import type { Terminal } from "./terminal.js";

const ORIGIN: Kind<string> = {
  name: "URL",
  expected: 'an origin such as "https://alice.example"',
  parse(value) {
    const isOrigin = /^https?:\/\//.test(value) && canParseUrl(value) && new URL(value).pathname === "/";
    return isOrigin ? new URL(value).origin : null;
  },
};

const OPTIONS = {
  site: option(FOLDER, "the built site (default: the output folder of the build)"),
  store: option(FOLDER, "another folder for its data"),
  port: withDefault(number(0, 65_535), 8080, "the port to listen on"),
  host: withDefault(text("HOST", "an address of this machine"), "127.0.0.1", "the address to listen on"),
  url: option(
    ORIGIN,
    'answers signed requests at this URL, for commands with the same --url; pages and feed keep the option "url" of the site',
  ),
  "rate-limit": withDefault(
    number(0, 1_000_000),
    60,
    "mentions per minute from one IP address, and as many messages; 0 for no limit",
  ),
  "trust-proxy": withDefault(number(0, 10), 0, "number of trusted proxies in front of this server (X-Forwarded-For)"),
  ...REPORT_OPTIONS,
  ...HOSTS_OPTION,
  ...SETTINGS_OPTION,
};

type Values = ValuesOf<typeof OPTIONS>;

/** Streams end after an hour, and readers reconnect. Messages that another process stores are announced within ten seconds. */
const STREAMS = { isDefault: true, streamMs: 3600_000, lookMs: 10_000 };

export const serve = command({
  name: "serve",
  summary: "serves the site, and sends and receives its mentions and messages",
  usage: "[options]",
  about: `Serves the built site on this machine, receives mentions, and messages and blobs if they are on, and does the hourly work: it sends new mentions, verifies pending ones, and mails what arrived. After each build it sends at once. Put a web server with TLS in front of it. SIGTERM stops it gracefully.

Mentions, messages, blobs and the list of what was sent are stored in the data folder of this machine, by the URL of the site: ~/.local/share/eleventy-twtxt/sites/alice.example on Linux. Back it up with: eleventy-twtxt backup FILE`,
  options: OPTIONS,
  notes: `Environment: ${FEATURES.flatMap(({ variables }) => variables).join(", ")}; for a bucket instead of --store: TWTXT_S3_ENDPOINT, TWTXT_S3_BUCKET, TWTXT_S3_REGION, TWTXT_S3_ACCESS_KEY_ID, TWTXT_S3_SECRET_ACCESS_KEY`,
  example: `$ eleventy-twtxt serve --port 8080
http://127.0.0.1:8080/
http://127.0.0.1:8080/twtxt.txt`,
  async run(values, _, terminal) {
    const served = await servedSite(values, terminal);
    const data = await siteStore(served.site, { command: "serve", store: values.store }, terminal);
    const used = await useStoreToServe(data);
    const mark = createMark(served);
    await mark.renew();
    const reports = new Reports(values, terminal);
    const { log } = reports;
    const running = await start(served, { store: data.store, mark, reports }, values, terminal);

    // Before the address is printed: a program that reads it may stop the server at once.
    const ended = terminal.ended();
    const place = `http://${values.host.includes(":") ? `[${values.host}]` : values.host}:${running.port}`;
    const { settings } = served.published;
    terminal.print(`${place}${readPrefix(settings)}/`);
    terminal.print(`${place}${new URL(settings.feedUrl).pathname}`);
    if (used.failure === null) log(`Data is stored in ${data.place}.`);
    else log(used.failure, { level: "error" });
    for (const line of [...originNote(served), ...hostWarning(settings)]) log(line, { level: "warn" });
    for (const line of featuresOff(terminal.environment)) log(line);
    for (const { network, why } of listMissingAccounts({ ...served.published, environment: terminal.environment }))
      log(`No copies are posted on ${NETWORK_NAMES[network]}: ${why}.`, { level: "warn" });
    running.begin();
    if (used.failure !== null) void used.ready.then((isReady) => (isReady ? running.resume(data.place) : null));
    await ended;
    log("Shutting down: finishing open requests.");
    await running.stop();
    await mark.remove();
    await used.leave();
    return 0;
  },
});

/** The site, and the pages of its last production build. */
interface ServedSite {
  site: Site;
  published: PublishedSite;
  /** The folder of its pages, absolute. */
  folder: string;
  origin: string;
}

/**
 * @throws TwtxtError `no-settings` if the folder does not exist: each request would be answered with 404;
 *   `output-conflict` if it has the pages of a preview, which may be drafts
 */
async function servedSite(values: Values, terminal: Terminal): Promise<ServedSite> {
  const site = await loadSite(terminal, values.settings);
  const published = await publishedSite(site);
  const { output, url } = published.settings;
  const built = site.file(output);
  const folder = values.site === undefined ? built : resolve(terminal.folder, values.site);
  if (!existsSync(folder)) {
    throw new TwtxtError("no-settings", `There is no site in ${folder}. Build it: npx @11ty/eleventy`);
  }
  if (site.settings.isDevelopment && site.settings.output === output && folder === built) {
    throw new TwtxtError(
      "output-conflict",
      `${folder} has the pages of a preview, and visitors may see drafts there. Build the site first: npx @11ty/eleventy`,
    );
  }
  return { site, published, folder, origin: values.url ?? url };
}

const nothing = async () => {};

/**
 * Marks the folder of the last build as served, so that a preview does not write drafts into it. The mark is renewed
 * when the file of the build changes, because `git clean -X` deletes it along with that file.
 */
function createMark({ site, published, folder }: ServedSite) {
  let remove = nothing;
  return {
    async renew() {
      const removeFormer = remove;
      const isLastBuild = folder === site.file(published.settings.output) && existsSync(site.file("."));
      // In a read-only project, no preview can be built either.
      remove = isLastBuild ? await markInUse(site.host.serving).catch(() => nothing) : nothing;
      await removeFormer();
    },
    remove: () => remove(),
  };
}

/** Starts the server. `begin` starts the jobs. */
async function start(
  served: ServedSite,
  { store, mark, reports }: { store: StreamingStore; mark: ReturnType<typeof createMark>; reports: Reports },
  values: Values,
  terminal: Terminal,
) {
  const { site, published, folder, origin } = served;
  const ending = new AbortController();
  // Once, because the file with the version is gone after an update of the package.
  const client = userAgent();
  const work = new BackgroundWork();
  const options = createServiceOptions(origin, { work, reports }, values, terminal);
  const copies = new CompressedCopies(join(await siteFolder(site, terminal), "compressed"));
  const compress = () => {
    const refreshed = copies.refresh([folder, site.host.published], ending.signal);
    const warn = ({ message }: Error) => reports.log(`New pages are sent uncompressed: ${message}`, { level: "warn" });
    work.add(refreshed.catch(warn));
  };
  const host = new SiteHost({
    site: published,
    file: site.host.file,
    read: async () => {
      await mark.renew();
      compress();
      return publishedSite(site);
    },
    make(current) {
      reports.noteBuild();
      return siteServices({ ...options, ...current, store, client, ending: ending.signal });
    },
    log: reports.log,
  });
  await loadAll();
  const followers = await Followers.open(store, terminal.now);
  await reports.serveMetrics(host.findEndpoint);
  const { port, close } = await listen(served, { host, followers, copies, reports }, values, terminal).catch(
    (error) => {
      reports.close();
      throw error;
    },
  );
  const stop = async () => {
    ending.abort();
    await Promise.all([close(), host.end()]);
    await followers.save();
    await work.settled();
    reports.close();
  };
  const begin = () => {
    compress();
    host.begin();
  };
  /** Does again what a disk that was full or read-only has prevented. */
  const resume = async (place: string): Promise<void> => {
    reports.log(`Data can be stored in ${place} now.`);
    await mark.renew();
    begin();
  };
  return { port, begin, resume, stop };
}

/** What the services of each build get. */
function createServiceOptions(
  origin: string,
  { work, reports }: { work: BackgroundWork; reports: Reports },
  values: Values,
  terminal: Terminal,
) {
  return {
    environment: terminal.environment,
    authority: new URL(origin).host,
    guard: { allowPrivateHosts: values["allow-private-host"] },
    now: terminal.now,
    log: reports.log,
    onJob: reports.noteJob,
    purge: null,
    isMetered: false,
    isLive: true,
    streams: STREAMS,
    background: work.add,
  };
}

/** What another origin changes, because pages, feed and mentions have the one of the build. */
function originNote({ origin, published: { settings } }: ServedSite): string[] {
  if (origin === settings.url) return [];
  return [
    `Signed requests are accepted for ${origin}: commands and the client need --url ${origin}. Pages, feed and mentions keep ${settings.url}; to change that, set the option url: "${origin}" and build the site again.`,
  ];
}

function hostWarning({ host, endpoint, urls }: HostSettings): string[] {
  if (host === "node" || endpoint === urls.webmention) return [];
  return [
    `The site was built for the host "${host}", so its feed does not name ${urls.webmention}, and no one can mention you there. Set the option host: "node" and build the site again.`,
  ];
}

async function listen(
  { site, published: { settings }, folder, origin }: ServedSite,
  {
    host: { findEndpoint, isDeleted, needsLinkHeader },
    followers,
    copies,
    reports,
  }: { host: SiteHost; followers: Followers; copies: CompressedCopies; reports: Reports },
  { port, host, ...values }: Values,
  { now, environment }: Terminal,
): Promise<NodeServer> {
  const prefix = readPrefix(settings);
  const serveFile = siteFiles({
    ...{ folder, published: site.host.published, prefix, isDeleted, needsLinkHeader, copies },
    feedPath: new URL(settings.feedUrl).pathname,
    endpoint: settings.endpoint,
    onFeedRead: (request) =>
      followers.note(request.headers["user-agent"] ?? "", findAddress(request, values["trust-proxy"])),
  });
  // They may belong to a parent.
  const { LISTEN_PID, LISTEN_FDS } = environment;
  try {
    return await nodeServer({
      ...{ port, host, origin, prefix, trustedProxies: values["trust-proxy"], log: reports.log },
      // That of a systemd socket unit, in which connections wait while the service restarts: sd_listen_fds(3).
      socket: LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) > 0 ? 3 : undefined,
      ...{ findEndpoint, serveFile, rateLimit: rateLimit({ perMinute: values["rate-limit"], now }) },
      onAnswer: (answered) => countAnswer(reports.metrics, answered),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what = code === "EADDRINUSE" ? "is in use. Choose another one with --port" : `cannot be used: ${message}`;
    throw new TwtxtError("bad-usage", `Port ${port} of ${host} ${what}.`, { cause: error });
  }
}
