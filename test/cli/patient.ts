// test/cli/patient.ts: a site of ours on loopback, in good health but for what a test makes of it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { runCommandLine } from "../../plugin/cli/command-line.js";
import type { Finding } from "../../plugin/cli/doctor/check.js";
import { discoveryFiles, feedFiles, inboxesOf } from "../../plugin/eleventy/site-files.js";
import type { Twt } from "../../plugin/feed/twt.js";
import { type NodeServer, nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { secretsOf } from "../../plugin/host/service-options.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { SiteHost } from "../../plugin/host/site-host.js";
import { siteServices } from "../../plugin/host/site-services.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { type HostSettings, hostSettings, type PublishedSite, type SitePages } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { endpoint } from "../helpers/endpoints.js";
import { afterEach } from "../helpers/hooks.js";
import { loopbackConnector } from "../helpers/loopback.js";
import "../helpers/loopback-only.mjs";
import { LOOPBACK_ONLY } from "../helpers/paths.js";
import { type Blog, blog, command, type Outcome, standingTerminal } from "./helpers.js";

const KEY = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const NOW = Date.parse("2026-11-20T09:00:00Z");
const running: NodeServer[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Three years, so that the first one is in an archive. */
export const TWTS: Twt[] = [
  { timestamp: "2023-05-01T10:00:00Z", text: "the first one" },
  { timestamp: "2023-05-02T10:00:00Z", text: "the last one of the archive" },
  { timestamp: "2024-05-01T10:00:00Z", text: "with an ü" },
  { timestamp: "2025-05-01T10:00:00Z", text: "the newest one" },
];

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface PatientOptions {
  /** Options of the plugin that differ. */
  options?: (url: string) => Partial<TwtxtOptions>;
  /** Files of the site that differ, by path; `null` for none. */
  files?: Record<string, string | null>;
  /** Changes the feed that the build has made. */
  feed?: (text: string, url: string) => string | Buffer;
  /** What answers in place of the site, by path. */
  answers?: (url: string) => Record<string, Answer>;
  perMinute?: number;
  environment?: Record<string, string>;
}

export interface Patient {
  url: string;
  host: string;
  feedUrl: string;
  /** What was asked for, as `POST /webmention`. */
  asked: string[];
  settings: HostSettings;
  pages: SitePages;
  close(): Promise<void>;
}

export async function patient(made: PatientOptions = {}): Promise<Patient> {
  const asked: string[] = [];
  let site: { endpointAt: Parameters<typeof nodeServer>[0]["endpointAt"]; serveFile: Answer } | undefined;
  let answers: Record<string, Answer> = {};
  const server = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: "http://127.0.0.1",
    endpointAt: (path) => (answers[path] ? null : (site?.endpointAt(path) ?? null)),
    serveFile: (request, response) => {
      const path = request.url?.split("?")[0] ?? "";
      asked.push(`${request.method} ${request.url}`);
      (answers[path] ?? site?.serveFile)?.(request, response);
    },
    rateLimit: rateLimit({ perMinute: made.perMinute ?? 60, now: () => NOW }),
    trustedProxies: 0,
    log: () => {},
  });
  running.push(server);

  const host = `127.0.0.1:${server.port}`;
  const url = `http://${host}`;
  answers = made.answers?.(url) ?? {};
  const built = await build(url, made);
  site = { endpointAt: endpointsOf(built, made, asked), serveFile: siteFiles(built.files) };
  return { url, host, feedUrl: built.settings.feedUrl, asked, close: server.close, ...built };
}

/** A folder that knows the site as its author's own. */
export function sourcesOf({ host, settings, pages }: Patient, user = "alice"): Blog {
  const authors = settings.authors.map((author) => ({
    ...author,
    address: `${user}@${host}`,
    endpoint: `http://${host}/inbox/alice`,
  }));
  return blog({ ...settings, authors }, { "package.json": "{}", ...hostFile({ settings, pages }) });
}

interface Where {
  /** Servers on this machine that may be asked. */
  hosts?: { host: string }[];
  folder?: string;
}

/** Types `eleventy-twtxt doctor ARGS`, in a process that reaches this machine alone. */
export function doctor(args: string[], { hosts = [], folder = tmpdir() }: Where = {}): Promise<Outcome> {
  return command(folder, ["doctor", ...args, ...allowing(hosts)], {
    environment: { NODE_OPTIONS: `--import ${LOOPBACK_ONLY}` },
  });
}

/** What `eleventy-twtxt doctor ARGS --json` finds. */
export interface Report {
  exitCode: number | null;
  /** What is to be mended, each with what to do. */
  fixes: string[];
  notes: string[];
  oks: string[];
}

/** As {@link doctor}, in this process, which is much quicker. It reaches this machine alone too. */
export async function report(args: string[], { hosts = [], folder = tmpdir() }: Where): Promise<Report> {
  const terminal = standingTerminal(folder, new Date(NOW).toISOString());
  const exitCode = await runCommandLine(["doctor", ...args, "--json", ...allowing(hosts)], terminal);
  const findings: Finding[] = JSON.parse(terminal.stdout.join("\n"));
  const of = (level: Finding["level"]) =>
    findings.filter((one) => one.level === level).map(({ what, todo }) => [what, todo].filter(Boolean).join(" "));
  return { exitCode, fixes: of("fix"), notes: of("note"), oks: of("ok") };
}

/** Looks at the feed of a patient, as a stranger. */
export async function examined(made: PatientOptions): Promise<Report & { site: Patient }> {
  const site = await patient(made);
  return { ...(await report([site.feedUrl], { hosts: [site] })), site };
}

/** For each of these, something that holds it. */
export function says(...parts: string[]): string[] {
  return parts.map((part) => expect.stringContaining(part));
}

/** What was posted to a patient. */
export function posts({ asked }: Pick<Patient, "asked">): string[] {
  return asked.filter((one) => one.startsWith("POST "));
}

/** How plain text is served to everybody. */
export const PLAIN = { "content-type": "text/plain; charset=utf-8", "access-control-allow-origin": "*" };

/** One and the same answer to whatever is asked. */
export function answer(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (_, response) => void response.writeHead(status, headers).end(body);
}

function allowing(hosts: { host: string }[]): string[] {
  return hosts.flatMap(({ host }) => ["--allow-private-host", host]);
}

async function build(url: string, { options, files = {}, feed = (text) => text }: PatientOptions) {
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
      ...(await discoveryFiles(inboxesOf(settings, urls))).map(({ path, content }) => [path, content]),
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
  const folder = mkdtempSync(join(tmpdir(), "twtxt-patient-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function endpointsOf(built: PublishedSite, made: PatientOptions, asked: string[]) {
  const { endpointAt } = new SiteHost({
    site: built,
    file: "",
    read: async () => built,
    make: ({ settings, pages }) =>
      siteServices({
        settings,
        pages,
        store: memoryStore(),
        secrets: secretsOf(made.environment ?? {}),
        authority: new URL(settings.url).host,
        client: "eleventy-plugin-twtxt/0",
        guard: { connector: loopbackConnector },
        fetch,
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
    const found = endpointAt(path);
    return (
      found &&
      endpoint((request, address) => {
        asked.push(`${request.method} ${path}`);
        return found.answer(request, address);
      }, found.rateLimit)
    );
  };
}
