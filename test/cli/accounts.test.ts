import { expect, it } from "vitest";
import { postingBluesky } from "../helpers/posting-bluesky.js";
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
  expect(running.printed.stderr).toContain(`Copies are posted as ${server.url}/@alice, with a token for read write.`);
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
  expect((await check({ TWTXT_MASTODON_TOKEN: "x" })).stderr).toContain(
    "TWTXT_MASTODON_TOKEN is set, but not TWTXT_MASTODON_URL.",
  );
  server.fault = { status: 503 };
  expect((await check(server.environment)).stderr).toMatch(
    /on Mastodon: \S+ answers 503.*\n.*Try again later: .*accounts check/,
  );
  expect(await check({})).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("No account") });
  expect(server.writes).toEqual([]);
});

it("eleventy-twtxt accounts add mastodon says what to do about a wrong code or server, and prints no secrets", async () => {
  const { server, folder, allowed } = await setUp();
  const other = await postingBluesky();
  const add = async (url: string, code: string | null) => {
    const words = ["accounts", "add", "mastodon", url, ...allowed, "--allow-private-host", other.host];
    const running = longCommand(folder, words, {}, { ask: async () => code });
    return [await running.exitCode, running.printed.stdout, running.printed.stderr] as const;
  };
  expect(await add(server.url, "wrong")).toEqual([
    1,
    "",
    expect.stringMatching(/invalid_grant.*Check the code, and try again\./s),
  ]);
  expect(await add(other.url, "code")).toEqual([
    1,
    "",
    expect.stringMatching(/Check the address of your server, and try again\./),
  ]);
  expect(await add(server.url, null)).toEqual([1, "", expect.stringContaining("Nothing was changed.")]);
  expect((await command(folder, ["accounts", "add", "mastodon"])).stderr).toContain("name your server.");
});

it("eleventy-twtxt accounts add bluesky asks for an app password, checks it, and prints the variables", async () => {
  const server = await postingBluesky();
  const { folder } = blog({ host: "node" });
  const environment = { TWTXT_BLUESKY_URL: server.url };
  const words = ["accounts", "add", "bluesky", "@alice.example", "--allow-private-host", server.host];
  const add = async (password: string | null) => {
    const running = longCommand(folder, words, { environment }, { readSecret: async () => password });
    return { exitCode: await running.exitCode, ...running.printed };
  };
  const { exitCode, stdout, stderr } = await add("abcd-efgh-ijkl-mnop\n");
  expect([exitCode, stdout]).toEqual([
    0,
    `TWTXT_BLUESKY_HANDLE=alice.example\nTWTXT_BLUESKY_PASSWORD=abcd-efgh-ijkl-mnop\nTWTXT_BLUESKY_URL=${server.url}\n`,
  ]);
  expect(stderr).toContain("paste it here: https://bsky.app/settings/app-passwords");
  expect(stderr).toContain("Copies are posted as https://bsky.app/profile/alice.example.");
  expect(stderr).toContain("the environment of serve");
  expect((await add("my password")).stderr).toContain("not the one of your account. Create one: https://bsky.app");
  expect(await add("aaaa-bbbb-cccc-dddd")).toMatchObject({
    ...{ exitCode: 1, stdout: "" },
    stderr: expect.stringMatching(
      /on Bluesky: .*Invalid identifier or password.*\n.*accounts add bluesky alice\.example/,
    ),
  });
  const check = ["accounts", "check", "--allow-private-host", server.host];
  expect((await command(folder, check, { environment: server.environment })).stderr).toContain(
    "profile/alice.example.",
  );
  expect(server.writes).toEqual([]);
});
