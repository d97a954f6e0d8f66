import { expect, it } from "vitest";
import { postingMastodon } from "../helpers/posting-mastodon.js";
import { blog, command, longCommand } from "./helpers.js";

const setUp = async () => {
  const server = await postingMastodon();
  return { server, folder: blog({ host: "netlify" }).folder, allowed: ["--allow-private-host", server.host] };
};

it("eleventy-twtxt accounts add mastodon prints the two variables and where to set them, and stores nothing", async () => {
  const { server, folder, allowed } = await setUp();
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return " the-code ";
  };
  const running = longCommand(folder, ["accounts", "add", "mastodon", `${server.url}/@alice`, ...allowed], {}, { ask });
  expect(await running.exitCode).toBe(0);
  expect(running.printed.stdout).toBe(`TWTXT_MASTODON_URL=${server.url}\nTWTXT_MASTODON_TOKEN=${server.token}\n`);
  expect(running.printed.stderr).toContain(
    `${server.url}/oauth/authorize?response_type=code&client_id=app&redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&scope=read%3Aaccounts`,
  );
  expect(running.printed.stderr).toContain(`Copies are posted as ${server.url}/@alice, which allows read write.`);
  expect(running.printed.stderr).toContain("Environment variables, as secrets for the scope Functions");
  expect([asked, server.writes]).toEqual([["Code: "], []]);
});

it("eleventy-twtxt accounts check says who the account is and what its token may, and posts nothing", async () => {
  const { server, folder, allowed } = await setUp();
  const check = (environment: Record<string, string>) =>
    command(folder, ["accounts", "check", ...allowed], { environment });
  expect(await check(server.environment)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(`ok    Copies are posted as ${server.url}/@alice`),
  });
  server.scopes = ["read:accounts", "write:statuses"];
  const { exitCode, stderr } = await check(server.environment);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("does not allow read:statuses read:search write:media."),
  ]);
  server.token = "another";
  expect((await check(server.environment)).stderr).toContain("The access token is invalid");
  expect(await check({})).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("No account") });
  expect(server.writes).toEqual([]);
});
