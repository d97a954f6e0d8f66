// test/cli/correspondent.ts: test users, each with a site and inbox on loopback, and a machine with the user's key.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Terminal } from "../../plugin/cli/terminal.js";
import { discoveryFiles } from "../../plugin/eleventy/output/feed-files.js";
import type { Endpoint } from "../../plugin/host/endpoints.js";
import { type NodeServer, nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { type HttpRequest, toResponse } from "../../plugin/http/respond.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { formatKey } from "../../plugin/keys/key.js";
import { Contacts } from "../../plugin/messages/lookup/contacts.js";
import { type HostSettings, hostSettings, SETTINGS_FILE } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { builtSite } from "../helpers/built-site.js";
import { endpoint } from "../helpers/endpoints.js";
import { afterEach } from "../helpers/hooks.js";
import { LOOPBACK_ONLY } from "../helpers/paths.js";
import { freePort } from "../helpers/ports.js";
import { type Blog, blog, command, type Outcome, testTerminal } from "./helpers.js";
import { type EndpointAt, endpointsAt } from "./inbox-host.js";
import { environmentOf } from "./machine.js";
import { runCommandLine } from "./run-command-line.js";

const running = new Set<Correspondent>();
const folders: string[] = [];

afterEach(async () => {
  // Also ends the subscriptions that other users still have open.
  await Promise.all([...running].map((person) => person.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

export interface Correspondent {
  address: string;
  kex: string;
  url: string;
  /** `host:port` */
  host: string;
  endpoint: string;
  /** The folder of the site, in which commands run. */
  machine: Blog;
  environment: Record<string, string>;
  /** The requests to the inbox with their status, such as `POST 202`. */
  requests: string[];
  /** The paths of the requested files. */
  files: string[];
  /** Replaces the status of every inbox response; `null` leaves it unchanged. */
  failWithStatus: number | null;
  /** Changes a response on its way; `null` leaves it unchanged. */
  operator: ((request: HttpRequest, answer: (instead?: HttpRequest) => Promise<Response>) => Promise<Response>) | null;
  /** How far the host's clock is behind, in milliseconds, so that a message is listed later than its timestamp says. */
  clockLagMs: number;
  /** `--allow-private-host` for the hosts of all users. */
  allowing: string[];
  /** Runs `eleventy-twtxt ARGS`, which can connect only to this machine. */
  run(args: string[], input?: string): Promise<Outcome>;
  /** Runs `eleventy-twtxt message ARGS`. */
  message(...args: string[]): Promise<Outcome>;
  /** Runs `eleventy-twtxt ARGS` on a terminal of 80 columns. `terminal` replaces parts of it. */
  runOnTerminal(args: string[], terminal?: Partial<Terminal>): Promise<Outcome>;
  /** The output of `message ARGS --json`, parsed. */
  messageJson(...args: string[]): Promise<Record<string, unknown>[]>;
  /** Replaces the user's key on the machine and on the site. */
  changeKey(seed: number): Promise<void>;
  /** Replaces the user's public key on the site. */
  publish(kex: string): Promise<void>;
  /** A guest with the key of this seed, and the options to run commands as this guest. */
  guest(seed: number): { address: string; options: string[] };
  /** Publishes a file of the site. @param path - from the root of the site */
  publishFile(path: string, content: string): void;
  /** All values in the host's store, by key. */
  stored(): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Changes a value in the host's store. */
  replaceStored(key: string, bytes: Uint8Array): Promise<unknown>;
  /** Writes a key file for `--identity`. @returns its name */
  keyFile(name: string, address: string, seed: number): string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Users who may connect to each other's hosts. The first user's key has seed 1, the second one's seed 2, and so on. */
export async function correspondents<T extends string>(
  users: readonly T[],
  {
    isStreaming = true,
    blobs = false,
    inbox,
    authors,
  }: Partial<Pick<UserOptions, "isStreaming" | "blobs" | "inbox" | "authors">> = {},
): Promise<Record<T, Correspondent>> {
  const ports = await Promise.all(users.map(() => freePort()));
  const allowing = ports.flatMap((port) => ["--allow-private-host", `127.0.0.1:${port}`]);
  const people = users.map((user, at) =>
    correspondent({ user, port: ports[at] ?? 0, allowing, isStreaming, blobs, inbox, authors }, at + 1),
  );
  return Object.fromEntries((await Promise.all(people)).map((one, at) => [users[at], one])) as Record<T, Correspondent>;
}

interface UserOptions {
  user: string;
  port: number;
  allowing: string[];
  isStreaming: boolean;
  /** The option of the site. */
  blobs: boolean | { count?: number; maxMegabytes?: number };
  /** The option of the site. */
  inbox: { messages?: number } | undefined;
  /** The option of the site. */
  authors: { user: string; key: string }[] | undefined;
}

async function correspondent(
  { user, port, allowing, isStreaming, blobs, inbox, authors }: UserOptions,
  seed: number,
): Promise<Correspondent> {
  const host = `127.0.0.1:${port}`;
  const url = `http://${host}`;
  const address = `${user}@${host}`;
  const endpoint = `${url}/inbox/${user}`;
  const site = mkdtempSync(join(tmpdir(), "twtxt-inbox-"));
  folders.push(site);
  const machine = blog({}, { "package.json": "{}" });
  const environment = { ...environmentOf(machine.folder), NODE_OPTIONS: `--import ${LOOPBACK_ONLY}` };
  const store = memoryStore();
  const serveFile = siteFiles({ folder: site, published: site, prefix: "", feedPath: "/twtxt.txt", endpoint: null });
  let settings: HostSettings;
  let endpointAt: EndpointAt;
  let ending: AbortController;
  const open = () => {
    ending = new AbortController();
    const now = () => Date.now() - person.clockLagMs;
    endpointAt = endpointsAt(settings, { store, isStreaming, now, ending: ending.signal });
  };

  const person: Correspondent = {
    ...{ address, url, host, endpoint, machine, environment, allowing },
    kex: "",
    requests: [],
    files: [],
    failWithStatus: null,
    operator: null,
    clockLagMs: 0,
    run: (args, input = "") => command(machine.folder, [...args, ...allowing], { input, environment }),
    message: (...args) => person.run(["message", ...args]),
    async runOnTerminal(args, given = {}) {
      const terminal = testTerminal(machine.folder, new Date().toISOString(), null, true);
      const exitCode = await runCommandLine([...args, ...allowing], { ...terminal, environment, ...given });
      return { exitCode, stdout: terminal.stdout.join("\n"), stderr: terminal.stderr.join("\n") };
    },
    async messageJson(...args) {
      const { stdout, stderr } = await person.message(...args, "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    async changeKey(number) {
      await person.publish(kexOf(number));
      person.keyFile(`data/eleventy-twtxt/keys/${address.replaceAll(":", "+")}.key`, address, number);
    },
    async publish(kex) {
      person.kex = kex;
      const given = { blobs, ...(inbox && { inbox }), ...(authors && { authors }) };
      const built = builtSite(url, { nick: user, key: person.kex, mentions: false, ...given });
      for (const { path, content } of await discoveryFiles(built.urls.inboxes())) {
        person.publishFile(path, content);
      }
      settings = hostSettings(built.settings);
      open();
      const { blobs: kept, urls, hasEndpoints } = settings;
      const own = { authors: settings.authors, blobs: kept, urls, hasEndpoints };
      const known = { ...JSON.parse(machine.read(SETTINGS_FILE)), ...own };
      machine.write(SETTINGS_FILE, JSON.stringify(known));
    },
    publishFile(path, content) {
      mkdirSync(dirname(join(site, path)), { recursive: true });
      writeFileSync(join(site, path), content);
    },
    replaceStored: (key: string, bytes: Uint8Array) => store.put(key, bytes),
    async stored() {
      const keys = await store.keys("");
      return new Map(
        await Promise.all(keys.map(async (key) => [key, (await store.get(key))?.bytes ?? new Uint8Array()] as const)),
      );
    },
    keyFile(name, whose, number) {
      const file = join(machine.folder, name);
      rmSync(file, { force: true });
      mkdirSync(dirname(file), { recursive: true });
      const text = formatIdentity(new Uint8Array(32).fill(number), { address: whose, created: null });
      writeFileSync(file, text, { mode: 0o600 });
      return name;
    },
    guest(number) {
      const guest = `${kexOf(number)}@${host}`;
      return { address: guest, options: ["--identity", person.keyFile(`guest-${number}.key`, guest, number)] };
    },
    async start() {
      open();
      server = await nodeServer({
        ...{ port, host: "127.0.0.1", origin: url, trustedProxies: 0 },
        serveFile: (request, response, otherwise) => {
          person.files.push(request.url ?? "");
          return serveFile(request, response, otherwise);
        },
        findEndpoint: (path) => recorded(endpointAt(path), person),
        rateLimit: rateLimit({ perMinute: 0, now: Date.now }),
        log: () => {},
      });
      running.add(person);
    },
    async stop() {
      ending.abort();
      running.delete(person);
      await server.close();
    },
  };
  let server: NodeServer;
  await person.changeKey(seed);
  await person.start();
  return person;
}

/** The known keys on a user's machine. */
export function contactsOf({ machine, address }: Correspondent) {
  const folder = join(machine.folder, "data/eleventy-twtxt/messages", address.replaceAll(":", "+"));
  return new Contacts(new SqliteStore(folder), Date.now);
}

function kexOf(seed: number): string {
  return formatKey(toSecretKey(new Uint8Array(32).fill(seed)).publicKey);
}

/** Records the requests to the inbox, and replaces or changes the responses as the test says. */
function recorded(own: Endpoint | null, person: Correspondent): Endpoint | null {
  if (!own || own.isStaticFirst) return own;
  return endpoint(async (request) => {
    const answer = async (instead = request) => toResponse(await own.answer(instead, "127.0.0.1"));
    const response =
      person.failWithStatus === null
        ? await (person.operator?.(request, answer) ?? answer())
        : new Response(null, { status: person.failWithStatus });
    person.requests.push(`${request.method} ${response.status}`);
    return response;
  });
}
