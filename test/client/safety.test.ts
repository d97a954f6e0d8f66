import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { promisify } from "node:util";
import { Hono } from "hono";
import { stream } from "hono/streaming";
import { describe, expect, it } from "vitest";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { linkFile } from "../../plugin/client/open-browser.js";
import { type ClientUnderTest, quietRoom, startedClient } from "./client.js";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** A room with one action, and the number of its runs. */
function countingRoom() {
  const counted = { actions: 0 };
  const room: CreateRoom = ({ notices }) => {
    const routes = new Hono<ClientEnv>();
    routes.get("/", (c) => c.text(c.get("csrfToken") ?? ""));
    routes.post("/", (c) =>
      notices.act(c, "/count", async () => {
        counted.actions += 1;
        return { text: "Counted." };
      }),
    );
    return { title: "Count", path: "/count", icon: "M5 5h14", keys: [], routes };
  };
  return { room, counted };
}

/** A client with that room, and what its own page sends with a form. */
/** @param limits - `maxBodyBytes` of the room */
async function clientWithForm(limits: { maxBodyBytes?: number } = {}) {
  const { room, counted } = countingRoom();
  const client = await startedClient({ rooms: [(context) => ({ ...room(context), ...limits })] });
  const cookie = await client.open();
  const { text: token } = await client.ask("/count", { headers: { cookie } });
  const headers: Record<string, string> = { ...FORM, cookie, origin: client.origin, "sec-fetch-site": "same-origin" };
  const post = (changed: Record<string, string | undefined> = {}, body = `csrf=${token}`, method = "POST") => {
    const sent = Object.entries({ ...headers, ...changed }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    return client.ask("/count", { method, headers: Object.fromEntries(sent), body });
  };
  return { client, cookie, counted, post, token };
}

describe("the link of the client", () => {
  it("sets a session cookie, once, that scripts and other sites cannot use", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const { pathname, search } = new URL(client.link);
    const opened = await client.ask(pathname + search);
    expect(opened.status).toBe(200);
    expect(opened.headers.get("set-cookie")).toMatch(
      /^twtxt-client-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(opened.text).toContain('content="0;url=/quiet"');

    const again = await client.ask(pathname + search);
    expect(again.status).toBe(403);
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(again.text).toContain("Look at the terminal");
  });

  it("leads a browser that has the session into the client, also after it was used", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const { pathname, search } = new URL(client.link);
    const again = await client.ask(pathname + search, { headers: { cookie } });
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining('content="0;url=/quiet"') });
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(client.announced).toEqual([]);
    const other = { cookie: `${cookie.slice(0, -43)}${"A".repeat(43)}` };
    expect(await client.ask(pathname + search, { headers: other })).toMatchObject({ status: 403 });
  });

  it("403 for a wrong token; the right token remains valid", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    for (const query of ["", "?token=", `?token=${"A".repeat(43)}`]) {
      expect(await client.ask(`/open${query}`)).toMatchObject({ status: 403 });
    }
    expect(client.announced).toEqual([]);
    expect(await client.open()).not.toBe("");
  });

  it("is not used up by a HEAD request", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const { pathname, search } = new URL(client.link);
    expect((await client.ask(pathname + search, { method: "HEAD" })).headers.get("set-cookie")).toBeNull();
    expect(await client.open()).not.toBe("");
  });

  it("is replaced on the terminal when a browser without a session sends a request after it was used", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    await client.ask("/quiet");
    expect(client.announced).toEqual([]);
    const cookie = await client.open();
    await client.ask("/quiet");
    await client.ask("/quiet");
    expect(client.announced).toHaveLength(1);
    expect(client.announced[0]).not.toBe(client.link);
    expect(await client.open(client.announced[0])).toBe(cookie);
  });
});

describe("a request to the client", () => {
  it("403 without the session cookie, or with another one", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const [name = ""] = cookie.split("=");
    for (const sent of [undefined, `${name}=${"A".repeat(43)}`, `${name}=`, `other=${cookie.slice(name.length + 1)}`]) {
      const refused = await client.ask("/quiet", { headers: sent === undefined ? {} : { cookie: sent } });
      expect(refused.status).toBe(403);
      expect(refused.text).toContain("Look at the terminal");
      expect(refused.text).not.toContain("<nav");
    }
    expect((await client.ask("/quiet", { headers: { cookie } })).status).toBe(200);
  });

  it("403 with another name in Host, as after DNS rebinding, even if everything else is valid", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const port = new URL(client.origin).port;
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      `localhost:${port}`,
      "127.0.0.1",
      `127.0.0.1:1`,
      `127.1:${port}`,
    ]) {
      for (const path of ["/quiet", "/open?token=x", "/client.js"]) {
        expect(await client.ask(path, { headers: { host, cookie } })).toMatchObject({ status: 403 });
      }
    }
  });

  it("403 from pages of other sites, and of other ports, which are the same site for browsers", async () => {
    const { client, cookie } = await clientWithForm();
    for (const site of ["cross-site", "same-site"]) {
      const headers = { cookie, "sec-fetch-site": site };
      expect(await client.ask("/count", { headers })).toMatchObject({ status: 403 });
    }
  });

  it("gets headers on each response that forbid frames, foreign scripts and caches", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const answers = await Promise.all([
      client.ask("/quiet", { headers: { cookie } }),
      client.ask("/nothing", { headers: { cookie } }),
      client.ask("/quiet"),
      client.ask("/client.js"),
      client.ask("/quiet", { headers: { host: "evil.example" } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 403, 200, 403]);
    for (const { headers } of answers) {
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
      expect(headers.get("content-security-policy")).not.toMatch(/unsafe|\*|https?:/);
      expect(Object.fromEntries(headers)).toMatchObject({
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("304 for the ETag of a page that has not changed", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const page = await client.ask("/quiet", { headers: { cookie } });
    const etag = page.headers.get("etag") ?? "";
    const again = await client.ask("/quiet", { headers: { cookie, "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect(again.headers.get("cache-control")).toBe("no-store");
  });
});

describe("a form of the client", () => {
  it("303: redirects to a page with the result", async () => {
    const { client, cookie, counted, post } = await clientWithForm();
    const answer = await post();
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^\/count\?notice=/);
    expect(counted.actions).toBe(1);
    expect((await client.ask(answer.headers.get("location") ?? "", { headers: { cookie } })).status).toBe(200);
  });

  it("403 with another Origin, without one, or from another site", async () => {
    const { client, counted, post } = await clientWithForm();
    const port = Number(new URL(client.origin).port);
    const origins = [
      "https://evil.example",
      "null",
      `http://127.0.0.1:${port + 1}`,
      `http://localhost:${port}`,
      undefined,
    ];
    for (const origin of origins) expect(await post({ origin })).toMatchObject({ status: 403 });
    for (const site of ["cross-site", "same-site"]) {
      expect(await post({ "sec-fetch-site": site })).toMatchObject({ status: 403 });
    }
    expect(counted.actions).toBe(0);
  });

  it("403 without the token of the session, also with a wrong one in the form or header", async () => {
    const { counted, post, token } = await clientWithForm();
    expect(await post({}, "")).toMatchObject({ status: 403 });
    expect(await post({}, "csrf=wrong")).toMatchObject({ status: 403 });
    expect(await post({}, `csrf=wrong&csrf=${token}x`)).toMatchObject({ status: 403 });
    expect(await post({ "x-csrf-token": "wrong" })).toMatchObject({ status: 403 });
    expect(counted.actions).toBe(0);
    expect(await post({ "x-csrf-token": token, "content-type": "application/json" }, "{}")).toMatchObject({
      status: 303,
    });
  });

  it("405 for other methods; 415, 411 and 413 for bodies that are not forms, have no length or are too large", async () => {
    const { counted, post } = await clientWithForm();
    for (const method of ["PUT", "DELETE", "PATCH"]) expect((await post({}, "", method)).status).toBe(405);
    expect((await post({ "content-type": "text/plain" })).status).toBe(415);
    expect((await post({ "transfer-encoding": "chunked", "content-length": undefined })).status).toBe(411);
    expect((await post({}, `csrf=${"x".repeat(2 ** 20)}`)).status).toBe(413);
    expect(counted.actions).toBe(0);
  });

  it("413 for a form that is too large for memory, even if the room accepts larger bodies from scripts", async () => {
    const { counted, post, token } = await clientWithForm({ maxBodyBytes: 2 ** 30 });
    const body = `csrf=${token}&text=${"x".repeat(32 * 2 ** 20)}`;
    expect((await post({}, body)).status).toBe(413);
    expect(counted.actions).toBe(0);
    expect((await post({ "x-csrf-token": token }, body)).status).toBe(303);
  });
});

describe("the end of the client", () => {
  it("completes open requests, ends streams, and refuses new connections", async () => {
    const events = new EventEmitter();
    const started = Promise.all([once(events, "started"), once(events, "streaming")]);
    const room: CreateRoom = ({ ending }) => {
      const routes = new Hono<ClientEnv>();
      routes.get("/", async (c) => {
        events.emit("started");
        await once(events, "finish");
        return c.text("finished");
      });
      routes.get("/stream", (c) =>
        stream(c, async (lines) => {
          await lines.write("first");
          events.emit("streaming");
          await new Promise((resolve) => ending.addEventListener("abort", resolve, { once: true }));
        }),
      );
      return { title: "Slow", path: "/slow", icon: "M5 5h14", keys: [], routes };
    };
    const client = await startedClient({ rooms: [room] });
    const cookie = await client.open();
    const answers = [client.ask("/slow", { headers: { cookie } }), client.ask("/slow/stream", { headers: { cookie } })];
    await started;
    const closed = client.close();
    events.emit("finish");
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["finished", "first"]);
    await closed;
    await expect(client.ask("/slow", { headers: { cookie } })).rejects.toThrow();
  });
});

describe("an error", () => {
  it("500 with a sentence for the author; unknown errors are hidden on the page and printed to the terminal", async () => {
    const room: CreateRoom = () => {
      const routes = new Hono<ClientEnv>();
      routes.get("/", () => {
        throw new Error("secret detail");
      });
      return { title: "Broken", path: "/broken", icon: "M5 5h14", keys: [], routes };
    };
    const client = await startedClient({ rooms: [room] });
    const cookie = await client.open();
    const page = await client.ask("/broken", { headers: { cookie } });
    expect(page.status).toBe(500);
    expect(page.text).toContain("This is a bug.");
    expect(page.text).not.toContain("secret detail");
    expect(page.text).toContain("<nav");
    expect(client.printed.join("\n")).toContain("secret detail");
  });
});

describe("a request that ends before its body", () => {
  it("is not logged as an error, and has no effect", async () => {
    const { client, cookie, counted } = await clientWithForm();
    const { port } = new URL(client.origin);
    const socket = connect(Number(port), "127.0.0.1");
    const lines = [`Host: 127.0.0.1:${port}`, `Cookie: ${cookie}`];
    // After this request, the client knows the user of the connection.
    socket.write(["GET /count HTTP/1.1", ...lines, "", ""].join("\r\n"));
    await once(socket, "data");
    const form = ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 100", "", "csrf="];
    const request = ["POST /count HTTP/1.1", ...lines, `Origin: ${client.origin}`, ...form];
    socket.write(request.join("\r\n"), () => socket.destroy());
    await once(socket, "close");
    await client.ask("/count", { headers: { cookie } });
    await client.close();
    expect([client.printed, counted.actions]).toEqual([[], 0]);
  });
});

const NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const canBecomeAnother = process.platform === "linux" && process.getuid?.() === 0;

describe.runIf(canBecomeAnother)("another user of the machine", () => {
  it("cannot read the file that redirects the browser to the link", async () => {
    const { target, end } = await linkFile("http://127.0.0.1:1/open?token=secret");
    expect(await readFile(target, "utf8")).toContain("token=secret");
    await expect(promisify(execFile)("setpriv", [...NOBODY, "cat", target], { cwd: "/" })).rejects.toThrow(
      "Permission denied",
    );
    await end();
    expect(existsSync(target)).toBe(false);
  });

  it("cannot open the client, even with the token and the cookie", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const cookie = await client.open();
    const [unused = ""] = await announcedBy(client);
    const { pathname, search } = new URL(unused);
    expect(await asNobody(client, [pathname + search, "/quiet", "/client.js"], cookie)).toEqual([403, 403, 403]);
    // The token still works for its owner.
    expect(await client.open(unused)).toBe(cookie);
    expect((await client.ask("/quiet", { headers: { cookie } })).status).toBe(200);
  });
});

/** Makes the client print a new link. */
async function announcedBy(client: ClientUnderTest): Promise<string[]> {
  await client.ask("/quiet");
  return client.announced;
}

/** The statuses of requests by a process of the user "nobody". */
async function asNobody({ origin }: ClientUnderTest, paths: string[], cookie: string): Promise<number[]> {
  const script = `const [cookie, ...urls] = process.argv.slice(1);
    Promise.all(urls.map(async (url) => (await fetch(url, { headers: { cookie } })).status))
      .then((statuses) => console.log(JSON.stringify(statuses)))`;
  const urls = paths.map((path) => origin + path);
  const { stdout } = await promisify(execFile)(
    "setpriv",
    [...NOBODY, process.execPath, "-e", script, cookie, ...urls],
    {
      cwd: "/",
    },
  );
  return JSON.parse(stdout);
}
