// plugin/cli/serve.ts: `eleventy-twtxt serve` runs the site and everything that it receives, on any Node host.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { BackgroundWork } from "../host/background.js";
import { featuresOff, VARIABLES } from "../host/features.js";
import { type NodeServer, nodeServer } from "../host/node-server.js";
import { preload } from "../host/preload.js";
import { rateLimit } from "../host/rate-limit.js";
import { secretsOf } from "../host/secrets.js";
import type { ServiceOptions } from "../host/service-options.js";
import { siteFiles } from "../host/site-files.js";
import { siteHost } from "../host/site-host.js";
import { type SiteServices, siteServices } from "../host/site-services.js";
import { loopbackHostOf } from "../http/loopback.js";
import { prefixOf } from "../site/routes.js";
import type { PublishedSite } from "../site/site.js";
import type { StreamingStore } from "../store/store.js";
import { markInUse } from "../store/store-users.js";
import { allowedHosts } from "./allowed-hosts.js";
import { misuse, readArguments } from "./command.js";
import { publishedSite, type Site, siteAt } from "./site.js";
import { siteStore, useStore } from "./site-store.js";
import type { Terminal } from "./terminal.js";
import { version } from "./version.js";

export const name = "serve";
export const summary = "serves the site, and all that it sends and receives";
export const help = `Usage: eleventy-twtxt serve [options]

Serves the built site on this machine, receives mentions, and messages and blobs where they are on, and
does the hourly work itself: sends what is new, verifies what is pending, mails what came. After each
build it sends at once. Put a web server with TLS in front of it. Ends in order at SIGTERM.

Mentions, messages, blobs and what was sent are kept in the data folder of this machine, by the URL of
the site: ~/.local/share/eleventy-twtxt/sites/alice.example on Linux. Make copies with: eleventy-twtxt backup FILE

  --site DIR             the built site (default: where the build has put it)
  --store DIR            another folder for its data
  --port N               default 8080
  --host H               the address to listen on (default 127.0.0.1)
  --url PUBLIC_URL       where it is reached, if not at the option "url" of the site
  --settings FILE        the settings of the site (default .eleventy-twtxt/settings.json)
  --rate-limit N         mentions a minute that one address may send, and messages (default 60, 0 for
                         any number)
  --trust-proxy N        take the N-th last X-Forwarded-For for the address (default 0: the peer's own)
  --allow-private-host HOST:PORT
                         a host of your own network that may be asked all the same; can be repeated

Environment: ${VARIABLES.join(", ")};
for a bucket in place of --store: TWTXT_S3_ENDPOINT, TWTXT_S3_BUCKET, TWTXT_S3_REGION,
TWTXT_S3_ACCESS_KEY_ID, TWTXT_S3_SECRET_ACCESS_KEY

Example:
  $ eleventy-twtxt serve --port 8080
  http://127.0.0.1:8080/
  http://127.0.0.1:8080/twtxt.txt`;

const OPTIONS = {
  site: { type: "string" },
  store: { type: "string" },
  port: { type: "string" },
  host: { type: "string" },
  url: { type: "string" },
  "rate-limit": { type: "string" },
  "trust-proxy": { type: "string" },
  "allow-private-host": { type: "string", multiple: true },
} as const;

/** A reader connects again after an hour; what another process stores is seen within ten seconds. */
const STREAMS = { isUsual: true, streamMs: 3600_000, lookMs: 10_000 };

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  if (positionals.length > 0) throw misuse(`${name}: takes no arguments, got "${positionals[0]}".`, name);
  const site = await siteAt(terminal, values.settings);
  const files = await publishedSite(site);
  const origin = originOf(values.url, files.settings.url);
  const folder = folderOf(site, files, values, terminal);
  refuseDevelopmentBuild(site, files, folder);
  const data = await siteStore(site, { command: name, store: values.store, isReadOnly: false }, terminal);
  const leaveStore = await useStore(data);
  const note = await noteServing(site, files, folder);
  const ending = new AbortController();
  const work = new BackgroundWork();
  const host = siteHost({
    site: files,
    file: site.host.file,
    read: async () => {
      await note.renew();
      return publishedSite(site);
    },
    make: servicesFor(data.store, values, { origin, background: work.add, ending: ending.signal }, terminal),
    log: terminal.say,
  });
  const address = values.host ?? "127.0.0.1";
  await preload();
  const server = await listen({
    port: numberOf(values.port, "--port", 8080, 65_535),
    host: address,
    origin,
    endpointAt: host.endpointAt,
    serveFile: siteFiles({
      folder,
      published: site.host.published,
      prefix: prefixOf(files.settings),
      feedPath: pathOf(files.settings.feedUrl),
      endpoint: files.settings.endpoint,
    }),
    rateLimit: rateLimit({
      perMinute: numberOf(values["rate-limit"], "--rate-limit", 60, 1_000_000),
      now: terminal.now,
    }),
    trustedProxies: numberOf(values["trust-proxy"], "--trust-proxy", 0, 10),
    log: terminal.say,
  });

  // Whoever reads that it is up may end it at once.
  const ended = terminal.ended();
  announce(`http://${address.includes(":") ? `[${address}]` : address}:${server.port}`, files, terminal);
  for (const line of [`Data is kept in ${data.place}.`, ...hostWarning(files), ...featuresOff(terminal.environment)])
    terminal.say(line);
  host.begin();
  await ended;
  ending.abort();
  terminal.say("Shutting down: finishing open requests.");
  await Promise.all([server.close(), host.end()]);
  await work.settled();
  await note.remove();
  await leaveStore();
  return 0;
}

/**
 * Notes that visitors see the folder of the last build, so that a preview does not write drafts into it. The note is
 * renewed when the file of the build changes, because `git clean -X` deletes it along with that file.
 */
async function noteServing({ file, host }: Site, { settings }: PublishedSite, folder: string) {
  const nothing = async () => {};
  // Where the project cannot be written, no preview can be made there either.
  const write = async () =>
    folder === file(settings.output) && existsSync(file(".")) ? markInUse(host.serving).catch(() => nothing) : nothing;
  let remove = await write();
  return {
    async renew() {
      const removeFormer = remove;
      remove = await write();
      await removeFormer();
    },
    remove: () => remove(),
  };
}

function servicesFor(
  store: StreamingStore,
  values: Values,
  { origin, background, ending }: { origin: string; background: ServiceOptions["background"]; ending: AbortSignal },
  terminal: Terminal,
): (site: PublishedSite) => SiteServices {
  const allowPrivateHosts = allowedHosts(values["allow-private-host"], name);
  return ({ settings, pages }) =>
    siteServices({
      settings,
      pages,
      store,
      secrets: secretsOf(terminal.environment),
      authority: new URL(origin).host,
      client: `eleventy-plugin-twtxt/${version()}`,
      guard: { allowPrivateHosts: [...allowPrivateHosts, ...loopbackHostOf(settings.url)] },
      fetch,
      now: terminal.now,
      log: terminal.say,
      purge: null,
      isMetered: false,
      isLive: true,
      streams: STREAMS,
      background,
      ending,
    });
}

/** @throws TwtxtError `no-settings` if the folder does not exist: everything would be answered with 404 */
function folderOf(site: Site, { settings }: PublishedSite, values: Values, terminal: Terminal): string {
  const folder = values.site === undefined ? site.file(settings.output) : resolve(terminal.folder, values.site);
  if (existsSync(folder)) return folder;
  throw new TwtxtError("no-settings", `There is no site in ${folder}. Build it: npx @11ty/eleventy`);
}

function announce(place: string, { settings }: PublishedSite, terminal: Terminal): void {
  terminal.print(`${place}${prefixOf(settings)}/`);
  terminal.print(`${place}${pathOf(settings.feedUrl)}`);
}

function hostWarning({ settings: { host, endpoint, urls } }: PublishedSite): string[] {
  if (host === "node" || endpoint === urls.webmention) return [];
  return [
    `The site was built for the host "${host}", so its feed does not name ${urls.webmention}, and no one can mention you there. Give the plugin the option host: "node" and build the site again.`,
  ];
}

/** @throws TwtxtError `output-conflict` if the folder has the pages of a preview, which may be drafts */
function refuseDevelopmentBuild({ settings: last, file }: Site, { settings }: PublishedSite, folder: string): void {
  if (!last.isDevelopment || last.output !== settings.output || file(settings.output) !== folder) return;
  throw new TwtxtError(
    "output-conflict",
    `${folder} has the pages of a preview, and visitors may see drafts there. Build the site first: npx @11ty/eleventy`,
  );
}

async function listen(options: Parameters<typeof nodeServer>[0]): Promise<NodeServer> {
  try {
    return await nodeServer(options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what = code === "EADDRINUSE" ? "is taken. Give another one with --port" : `cannot be used: ${message}`;
    throw new TwtxtError("bad-usage", `Port ${options.port} of ${options.host} ${what}.`, { cause: error });
  }
}

function originOf(given: string | undefined, url: string): string {
  if (given === undefined) return url;
  if (/^https?:\/\//.test(given) && URL.canParse(given) && new URL(given).pathname === "/")
    return new URL(given).origin;
  throw misuse(`${name}: --url is an origin such as "https://alice.example", got "${given}".`, name);
}

function numberOf(text: string | undefined, option: string, standard: number, most: number): number {
  if (text === undefined) return standard;
  if (/^\d{1,9}$/.test(text) && Number(text) <= most) return Number(text);
  throw misuse(`${name}: ${option} is a number from 0 to ${most}, got "${text}".`, name);
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}
