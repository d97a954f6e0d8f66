// test/netlify/timeline.test.ts: the timeline on Netlify: its hourly function and its endpoint.
import { afterEach, expect, it, vi } from "vitest";
import { scheduled } from "../../netlify/functions/jobs.js";
import { timeline } from "../../netlify/functions/timeline.js";
import { loopbackServer } from "../helpers/loopback.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it("is read into the site's store by the scheduled function, and served by its own function", async () => {
  for (const method of ["error", "log"] as const) vi.spyOn(console, method).mockImplementation(() => {});
  await netlifyBlobs();
  const bob = await loopbackServer((_, response) => response.end("2026-01-02T03:04:05Z\thello\n"));
  vi.stubEnv("NETLIFY_DEV", "true");
  vi.stubEnv("NETLIFY_LOCAL", "true");
  vi.stubEnv("TWTXT_ALLOW_PRIVATE_HOSTS", bob.host);
  const follow = [{ nick: "bob", url: `${bob.url}/twtxt.txt` }];
  const { settings, pages } = siteOf("http://localhost:8888", { timeline: true, follow });
  const local = { deploy: { context: "" } };
  const list = () => timeline(settings, pages)(new Request("http://localhost:8888/timeline.json"), local);

  expect((await list()).status).toBe(404);
  await scheduled(settings, pages)(new Request("http://localhost:8888/"), local);
  const answer = await list();
  expect(answer.headers.get("netlify-cdn-cache-control")).toBe("public, durable, s-maxage=900");
  expect(await answer.json()).toMatchObject({ twts: [{ author: { name: "bob" }, html: "<p>hello</p>" }] });
  expect(bob.requests).toEqual(["/twtxt.txt"]);
});
