// test/client/routes.test.ts: attacks on each route of each room, including routes that are added later.
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { ROOMS } from "../../plugin/client/rooms.js";
import { blog } from "../cli/helpers.js";
import { describeWithoutKeychain, environmentOf, KEY_FILE, PAPER_FILE, PAPER_KEX } from "../cli/machine.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { loopbackServer } from "../helpers/loopback.js";
import { PAGES } from "../helpers/receiver.js";
import { type ClientUnderTest, type Sent, startedClient } from "./client.js";
import { visitorOf } from "./visitor.js";

/** A route of a room, as listed by Hono. */
interface Route {
  method: string;
  /** The path with parameters, such as `/files/get/:key`. */
  path: string;
}

const DRAFT = "01234567-89ab-cdef-0123-456789abcdef";
/** Valid values of parameters. */
const VALUES: Readonly<Record<string, string>> = {
  ":address": "bob%40bob.example",
  ":key": "a".repeat(64),
  ":draft": DRAFT,
  ":name": "picture-1.jpg",
  ":action": "cancel",
};
/** Hostile values of parameters and fields. */
const HOSTILE_VALUES = [
  "../../../../package.json",
  "..",
  "/etc/passwd",
  "-rf",
  "a\0\r\nset-cookie: a=b",
  "__proto__",
  "javascript:{{ 7 }}<script>alert(1)</script>",
  "9".repeat(1000),
  "",
];
const FIELDS = [
  ..."address answered body clean draft file filename folder follow from host id key list name newFolder next notified".split(
    " ",
  ),
  ..."number page place remove replyTo reply-to shown show signature source state text to type url version visibility".split(
    " ",
  ),
];

async function clientOfAlice() {
  const rooms: CreateRoom[] = [];
  const table: Route[] = [];
  for (const create of ROOMS) {
    rooms.push((context) => {
      const room = create(context);
      const paths = room.routes.routes.map(({ method, path }) => ({
        method,
        path: room.path + path.replace(/^\/$/, ""),
      }));
      table.push(...paths.filter(({ method }) => method !== "ALL"));
      return room;
    });
  }
  const own = await loopbackServer((_, response) => response.writeHead(404).end());
  const { settings } = builtSite("https://alice.example", { key: PAPER_KEX, blobs: true });
  const { folder, write } = blog(settings, { ...hostFile({ settings, pages: PAGES }), "package.json": "{}" });
  write(KEY_FILE, PAPER_FILE);
  chmodSync(join(folder, KEY_FILE), 0o600);
  write("notes/first.md", "Hello\n");
  const client = await startedClient({ rooms, folder, environment: environmentOf(folder), url: own.url });
  const visitor = await visitorOf(client, "/write");
  return { client, visitor, own, folder, table };
}

/** A hash of all files below a folder: their paths, modes and contents. */
function stateOf(folder: string): string {
  const hash = createHash("sha256");
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path}\n`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** The path of a route, with a value for each parameter. */
function pathTo({ path }: Route, valueFor = (name: string) => VALUES[name] ?? "1"): string {
  return path.replace(/:\w+/g, valueFor);
}

interface Attack {
  what: string;
  /** Replaces headers of a complete request; `undefined` removes one. */
  headers: Record<string, string | undefined>;
  body?: string;
  /** Whether it also applies to GET requests. */
  alsoReads: boolean;
  status?: number;
}

const ATTACKS: readonly Attack[] = [
  { what: "no cookie", headers: { cookie: undefined }, alsoReads: true },
  { what: "the Host of another name", headers: { host: "evil.example" }, alsoReads: true },
  { what: "a page of another site", headers: { "sec-fetch-site": "cross-site" }, alsoReads: true },
  { what: "a page of another port", headers: { "sec-fetch-site": "same-site" }, alsoReads: true },
  { what: "a foreign Origin", headers: { origin: "https://evil.example" }, alsoReads: false },
  { what: "an opaque Origin", headers: { origin: "null" }, alsoReads: false },
  { what: "no Origin", headers: { origin: undefined }, alsoReads: false },
  { what: "no CSRF token", headers: {}, body: "id=1", alsoReads: false },
  { what: "a wrong CSRF token", headers: { "x-csrf-token": "a".repeat(43) }, alsoReads: false },
  { what: "a body that is not a form", headers: { "content-type": "text/plain" }, alsoReads: false, status: 415 },
];

/** Requests of a browser that has opened the client, each with one fault. */
function attacksOn({ origin }: ClientUnderTest, { cookie, csrf }: { cookie: string; csrf: string }, method: string) {
  const isRead = method === "GET";
  const headers: Attack["headers"] = {
    cookie,
    "sec-fetch-site": "same-origin",
    ...(!isRead && { origin, "content-type": "application/x-www-form-urlencoded" }),
  };
  return ATTACKS.filter(({ alsoReads }) => !isRead || alsoReads).map(({ what, status = 403, ...changed }) => {
    const sent = Object.entries({ ...headers, ...changed.headers });
    const complete: Sent = {
      method,
      headers: Object.fromEntries(sent.filter((one): one is [string, string] => one[1] !== undefined)),
      ...(!isRead && { body: changed.body ?? `csrf=${csrf}` }),
    };
    return { what, status, sent: complete };
  });
}

describeWithoutKeychain("each route of the client", () => {
  it("refuses requests from other pages, without changing, reading or sending anything", async () => {
    const { client, visitor, own, folder, table } = await clientOfAlice();
    expect(table.filter(({ method }) => method === "POST").length).toBeGreaterThan(20);
    await visitor.post("/write/draft", { id: DRAFT, body: "A draft" });
    // The first page of the author counts in the background what waits.
    await expect.poll(() => own.requests).toContainEqual(expect.stringContaining("state=held&limit=1"));
    const before = stateOf(folder);
    const asked = own.requests.length;
    for (const route of table) {
      const path = pathTo(route);
      for (const { what, status, sent } of attacksOn(client, visitor, route.method)) {
        const got = await client.ask(path, sent);
        expect([what, route, got.status]).toEqual([what, route, status]);
        expect(got.text).not.toContain(visitor.csrf);
      }
    }
    expect(stateOf(folder)).toBe(before);
    expect(own.requests.slice(asked)).toEqual([]);
    await visitor.post("/write/delete", { id: DRAFT });
    expect(stateOf(folder)).not.toBe(before);
  });

  it("changes nothing for methods other than POST", async () => {
    const { client, visitor, folder, table } = await clientOfAlice();
    await visitor.post("/write/draft", { id: DRAFT, body: "A draft" });
    const before = stateOf(folder);
    const headers = { cookie: visitor.cookie, origin: client.origin, "x-csrf-token": visitor.csrf };
    for (const route of table.filter(({ method }) => method === "POST")) {
      const path = pathTo(route);
      for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
        expect([route, (await client.ask(path, { method, headers })).status]).toEqual([route, 405]);
      }
      if (table.some((other) => other.method === "GET" && other.path === route.path)) continue;
      const query = new URLSearchParams({ id: DRAFT, csrf: visitor.csrf });
      expect([route, (await client.ask(`${path}?${query}`, { headers })).status]).toEqual([route, 404]);
    }
    expect(stateOf(folder)).toBe(before);
  });

  it("shows an error for hostile names, and reads or writes no file that they name", async () => {
    const { client, visitor, folder, table } = await clientOfAlice();
    const outside = () => stateOf(join(folder, "notes")) + readFileSync(join(folder, "package.json"), "utf8");
    const before = outside();
    for (const route of table) {
      for (const value of HOSTILE_VALUES) {
        const path = pathTo(route, () => encodeURIComponent(value) || "%20");
        const fields = Object.fromEntries(FIELDS.map((name) => [name, value]));
        const got =
          route.method === "GET"
            ? await visitor.get(`${path}?${new URLSearchParams(value.length > 100 ? { id: value } : fields)}`)
            : await visitor.post(path, fields);
        const faults = [
          ...(got.status < 500 ? [] : [got.status]),
          ...["This is a bug", "<script>alert"].filter((text) => got.text.includes(text)),
          ...got.headers.getSetCookie(),
        ];
        expect([route, value.slice(0, 30), ...faults]).toEqual([route, value.slice(0, 30)]);
      }
    }
    expect(client.printed.filter((line) => line.includes("\n    at "))).toEqual([]);
    expect(outside()).toBe(before);
  });
});
