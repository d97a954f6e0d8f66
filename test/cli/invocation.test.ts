import { describe, expect, it } from "vitest";
import { typed } from "../../plugin/author/invocation.js";

describe("the hint to run a command", () => {
  it.each([
    ["npm", "npm/10.8.2 node/v20.20.2 linux x64 workspaces/false", "npx eleventy-twtxt keys create"],
    ["pnpm", "pnpm/9.1.0 npm/? node/v20.20.2 linux x64", "pnpm eleventy-twtxt keys create"],
    ["yarn", "yarn/1.22.22 npm/? node/v20.20.2 linux x64", "yarn eleventy-twtxt keys create"],
    ["no package manager", undefined, "eleventy-twtxt keys create"],
    ["an unknown one", "other/1", "eleventy-twtxt keys create"],
  ])("starts the program in the same way, by %s", (_, npm_config_user_agent, hint) => {
    expect(typed("keys create", { npm_config_user_agent }, "/site/node_modules/.bin/eleventy-twtxt")).toBe(hint);
  });

  it("names the package if npx downloaded it, since the program's name is not a package", () => {
    const script = "/home/alice/.npm/_npx/0123456789abcdef/node_modules/.bin/eleventy-twtxt";
    const environment = { npm_config_user_agent: "npm/10.8.2 node/v20.20.2 linux x64" };
    expect(typed("message list", environment, script)).toBe(
      "npx --package eleventy-plugin-twtxt eleventy-twtxt message list",
    );
  });
});
