// test/cli/checked-site.ts: a site on loopback for `doctor`, without faults except those that a test adds.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { Finding } from "../../plugin/author/doctor/check.js";
import { discoveryFiles, feedFiles } from "../../plugin/eleventy/output/feed-files.js";
import type { Twt } from "../../plugin/feed/twt.js";
import { type NodeServer, nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { SiteHost } from "../../plugin/host/site-host.js";
import { siteServices } from "../../plugin/host/site-services.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { type HostSettings, hostSettings, type PublishedSite, type SitePages } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { endpoint } from "../helpers/endpoints.js";
import { afterEach } from "../helpers/hooks.js";
import { loopbackRoute } from "../helpers/loopback.js";
import { type Blog, blog, command, type Outcome, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

const KEY = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const NOW = Date.parse("2026-11-20T09:00:00Z");
const running: NodeServer[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Twts of three years, so that the first year is in an archive. */
export const TWTS: Twt[] = [
  { timestamp: "2023-05-01T10:00:00Z", text: "the first one" },
  { timestamp: "2023-05-02T10:00:00Z", text: "the last one of the archive" },
  { timestamp: "2024-05-01T10:00:00Z", text: "with an ü" },
  { timestamp: "2025-05-01T10:00:00Z", text: "the newest one" },
];

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface SiteOptions {
  /** Other options of the plugin. */
  options?: (url: string) => Partial<TwtxtOptions>;
  /** Other files of the site, by path; `null` for no file. */
  files?: Record<string, string | null>;
  /** Changes the feed of the build. */
  feed?: (text: string, url: string) => string | Buffer;
  /** Handlers that answer instead of the site, by path. */
  handlers?: (url: string) => Record<string, Answer>;
  /** The rate limit of mentions; default: 10, so that a test of the limit takes few requests. */
  perMinute?: number;
  environment?: Record<string, string>;
}

export interface CheckedSite {
  url: string;
  host: string;
  feedUrl: string;
  /** The requests, such as `POST /webmention`. */
  requests: string[];
  settings: HostSettings;
  pages: SitePages;
}

export async function checkedSite(options: SiteOptions = {}): Promise<CheckedSite> {
  const requests: string[] = [];
  let site: { endpointAt: Parameters<typeof nodeServer>[0]["findEndpoint"]; serveFile: Answer } | undefined;
  let handlers: Record<string, Answer> = {};
  const server = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: "http://127.0.0.1",
    findEndpoint: (path) => (handlers[path] ? null : (site?.endpointAt(path) ?? null)),
    serveFile: async (request, response) => {
      const path = request.url?.split("?")[0] ?? "";
      requests.push(`${request.method} ${request.url}`);
      await (handlers[path] ?? site?.serveFile)?.(request, response);
    },
    rateLimit: rateLimit({ perMinute: options.perMinute ?? 10, now: () => NOW }),
    trustedProxies: 0,
    log: () => {},
  });
  running.push(server);

  const host = `127.0.0.1:${server.port}`;
  const url = `http://${host}`;
  handlers = options.handlers?.(url) ?? {};
  const built = await build(url, options);
  site = { endpointAt: endpointsOf(built, options, requests), serveFile: siteFiles(built.files) };
  return { url, host, feedUrl: built.settings.feedUrl, requests, ...built };
}

/** The source folder of the site. */
export function sourceFolder({ host, settings, pages }: CheckedSite, user = "alice"): Blog {
  const authors = settings.authors.map((author) => ({
    ...author,
    address: `${user}@${host}`,
    endpoint: `http://${host}/inbox/alice`,
  }));
  return blog({ ...settings, authors }, { "package.json": "{}", ...hostFile({ settings, pages }) });
}

interface DoctorOptions {
  /** Servers on this machine that `doctor` may contact. */
  hosts?: { host: string }[];
  folder?: string;
}

/** Runs `eleventy-twtxt doctor ARGS`, which can connect only to this machine. */
export function doctor(args: string[], { hosts = [], folder = tmpdir() }: DoctorOptions = {}): Promise<Outcome> {
  return command(folder, ["doctor", ...args, ...allowing(hosts)]);
}

/** The findings of `eleventy-twtxt doctor ARGS --json`. */
export interface Report {
  exitCode: number | null;
  /** Each finding with its advice. */
  fixes: string[];
  notes: string[];
  oks: string[];
}

/** Runs `eleventy-twtxt doctor ARGS --json`, which can connect only to this machine. */
export async function report(args: string[], { hosts = [], folder = tmpdir() }: DoctorOptions): Promise<Report> {
  const terminal = testTerminal(folder, new Date(NOW).toISOString());
  const exitCode = await runCommandLine(["doctor", ...args, "--json", ...allowing(hosts)], terminal);
  const findings: Finding[] = JSON.parse(terminal.stdout.join("\n"));
  const of = (level: Finding["level"]) =>
    findings.filter((one) => one.level === level).map(({ what, todo }) => [what, todo].filter(Boolean).join(" "));
  return { exitCode, fixes: of("fix"), notes: of("note"), oks: of("ok") };
}

/** Checks the feed of another author's site. */
export async function checkFeed(options: SiteOptions): Promise<Report & { site: CheckedSite }> {
  const site = await checkedSite(options);
  return { ...(await report([site.feedUrl], { hosts: [site] })), site };
}

/** Matches strings that contain the parts. */
export function containing(...parts: string[]): string[] {
  return parts.map((part) => expect.stringContaining(part));
}

/** The POST requests to a site. */
export function posts({ requests }: Pick<CheckedSite, "requests">): string[] {
  return requests.filter((one) => one.startsWith("POST "));
}

/** Headers of plain text that pages of all origins can read. */
export const PLAIN = { "content-type": "text/plain; charset=utf-8", "access-control-allow-origin": "*" };

/** Sends the same response to every request. */
export function answer(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (_, response) => void response.writeHead(status, headers).end(body);
}

function allowing(hosts: { host: string }[]): string[] {
  return hosts.flatMap(({ host }) => ["--allow-private-host", host]);
}

async function build(url: string, { options, files = {}, feed = (text) => text }: SiteOptions) {
  const built = builtSite(url, {
    ...{ webmention: `${url}/webmention`, key: KEY, endpoint: `${url}/inbox/alice` },
    ...options?.(url),
  });
  const { options: settings, urls } = built;
  const webmention = settings.webmention ?? null;
  const all: Record<string, string | Buffer | null> = {
    "/index.html": `<!doctype html><link rel="alternate" type="text/plain" href="${settings.path}">`,
    ...Object.fromEntries([
      ...feedFiles(TWTS, settings, urls).map(({ path, content }) => [path, content]),
      ...(await discoveryFiles(urls.inboxes())).map(({ path, content }) => [path, content]),
    ]),
    ...files,
  };
  const text = all[settings.path];
  if (typeof text === "string") all[settings.path] = feed(text, url);
  const folder = writeSite(all);
  const pages: SitePages = { feeds: [urls.feedUrl()], pages: [`${url}/`], twts: [] };
  const served = { folder, published: folder, prefix: "", feedPath: settings.path, endpoint: webmention };
  return {
    settings: { ...hostSettings(built.settings), isReceiver: true },
    pages,
    files: served,
  };
}

function writeSite(files: Record<string, string | Buffer | null>): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-checked-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function endpointsOf(built: PublishedSite, options: SiteOptions, requests: string[]) {
  const { findEndpoint } = new SiteHost({
    site: built,
    file: "",
    read: async () => built,
    make: ({ settings, pages }) =>
      siteServices({
        settings,
        pages,
        store: memoryStore(),
        environment: options.environment ?? {},
        authority: new URL(settings.url).host,
        client: "eleventy-plugin-twtxt/0",
        guard: { route: loopbackRoute },
        now: () => NOW,
        log: () => {},
        purge: async () => {},
        isMetered: false,
        isLive: true,
        streams: { isDefault: false, streamMs: 0, lookMs: 0 },
        background: () => {},
      }),
    log: () => {},
  });
  return (path: string) => {
    const found = findEndpoint(path);
    return (
      found &&
      endpoint((request, address) => {
        requests.push(`${request.method} ${path}`);
        return found.answer(request, address);
      }, found.rateLimit)
    );
  };
}
