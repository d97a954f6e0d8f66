// test/cli/serve-timeline.test.ts: the timeline of `eleventy-twtxt serve`.
import { expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { serve, site } from "./server.js";

it("is read when serve starts, and stored for the next start", async () => {
  const agents: (string | undefined)[] = [];
  let status = 200;
  const bob = await loopbackServer((request, response) => {
    agents.push(request.headers["user-agent"]);
    response.writeHead(status).end("2026-01-02T03:04:05Z\tIt *rains*.\n");
  });
  const alice = site({ timeline: { follow: [{ nick: "bob", url: `${bob.url}/twtxt.txt` }] } });
  const first = await serve(alice, ["--allow-private-host", bob.host]);
  const html = async (url: string) => {
    const answer = await fetch(`${url}/timeline.json`);
    return answer.status === 200 ? Object(await answer.json()).twts[0]?.html : answer.status;
  };
  await expect.poll(() => html(first.url)).toBe("<p>It <em>rains</em>.</p>");
  expect(agents[0]).toMatch(/^eleventy-plugin-twtxt\/\S+ \(\+https:\/\/alice\.example\/twtxt\.txt; @alice\)$/);
  expect(await first.end()).toBe(0);

  status = 500;
  const second = await serve(alice, ["--allow-private-host", bob.host]);
  expect(await html(second.url)).toBe("<p>It <em>rains</em>.</p>");
});

it("404 for a site without a timeline", async () => {
  const { url } = await serve(site());
  expect((await fetch(`${url}/timeline.json`)).status).toBe(404);
});
