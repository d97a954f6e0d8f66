// test/hosting/static.test.ts: a site on nginx and Caddy without `serve`, with the configurations of docs/hosting/.
import { expect, it } from "vitest";
import { blog } from "../cli/helpers.js";
import { describeWithProxies } from "./proxies.js";

const DOCUMENT = '{"endpoint":"https://alice.example/inbox/alice","key":"kex1"}';

describeWithProxies("a site without serve", (server) => {
  function startSite(): Promise<string> {
    const { folder } = blog(null, {
      "_site/index.html": "home",
      "_site/404.html": "Nothing is here.",
      "_site/twtxt.txt": "# nick = alice\n\n2026-11-20T09:30:00Z\tQuinces’ day\n",
      "_site/twtxt-2025.txt": "# nick = alice\n",
      "_site/.well-known/msg/alice.json": DOCUMENT,
      "_site/.well-known/salty/0123abcd.json": DOCUMENT,
    });
    const file = server.name === "nginx" ? "nginx-static.conf" : "Caddyfile-static";
    return server.start(file, [["/srv/alice.example/_site", `${folder}/_site`]]);
  }

  it("has the headers of the feed, its archives and the discovery documents", async () => {
    const url = await startSite();
    const headersOf = async (path: string) => {
      const { status, headers } = await fetch(url + path);
      return [status, headers.get("content-type"), headers.get("access-control-allow-origin")];
    };
    for (const path of ["/twtxt.txt", "/twtxt-2025.txt"]) {
      expect([path, await headersOf(path)]).toEqual([path, [200, "text/plain; charset=utf-8", "*"]]);
    }
    for (const path of ["/.well-known/msg/alice.json", "/.well-known/salty/0123abcd.json"]) {
      expect([path, await headersOf(path)]).toEqual([path, [200, "application/json", "*"]]);
    }
  });

  it("has Last-Modified in each answer for the feed, also in a 304", async () => {
    const url = await startSite();
    const { headers } = await fetch(`${url}/twtxt.txt`);
    for (const condition of ["etag", "last-modified"] as const) {
      const name = condition === "etag" ? "if-none-match" : "if-modified-since";
      const again = await fetch(`${url}/twtxt.txt`, { headers: { [name]: headers.get(condition) ?? "" } });
      expect([200, 304]).toContain(again.status);
      expect(again.headers.get("last-modified")).toBe(headers.get("last-modified"));
    }
  });

  it("404: the page of the site", async () => {
    const url = await startSite();
    const response = await fetch(`${url}/nothing`);
    expect([response.status, await response.text()]).toEqual([404, "Nothing is here."]);
    expect(await (await fetch(`${url}/`)).text()).toBe("home");
  });
});
