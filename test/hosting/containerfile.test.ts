// test/hosting/containerfile.test.ts: the steps of docs/hosting/Containerfile, run in plain folders without a container engine.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { blog } from "../cli/helpers.js";
import { serveCommand } from "../cli/server.js";
import { COMMAND, LOOPBACK_ONLY, REPO } from "../helpers/paths.js";
import { configOf } from "../helpers/site.js";

/** Programs of the image, and those that a test runs instead: it has no registry, and no user `node`. */
const INSTEAD: readonly (readonly [string, string])[] = [
  ["npm ci", `ln -s ${join(REPO, "node_modules")} node_modules`],
  ["npx @11ty/eleventy", `${process.execPath} ${join(REPO, "node_modules/@11ty/eleventy/cmd.cjs")}`],
  [" && chown node ", " && test -d "],
];

/** The image that the steps make: the root folder of its last stage, and its settings. */
interface Image {
  root: string;
  folder: string;
  environment: Record<string, string>;
  user: string;
  healthcheck: string[];
  command: string[];
}

/** @param sources - the folder of the site */
function buildImage(sources: string, root: string): Image {
  const images = new Map<string, Image>();
  let image = newImage(join(root, "0"));
  const steps = readFileSync(join(REPO, "docs/hosting/Containerfile"), "utf8").split("\n");
  for (const step of steps.filter((line) => line !== "")) {
    const [, word = "", rest = ""] = /^(\S+) (.*)$/.exec(step) ?? [];
    if (word === "FROM") {
      const [, name = "last"] = / AS (\S+)$/.exec(rest) ?? [];
      image = newImage(join(root, name));
      images.set(name, image);
    } else runStep(image, word, rest, { sources, images });
  }
  return image;
}

function newImage(root: string): Image {
  return { root, folder: "/", environment: {}, user: "root", healthcheck: [], command: [] };
}

function runStep(
  image: Image,
  word: string,
  rest: string,
  given: { sources: string; images: Map<string, Image> },
): void {
  const here = join(image.root, image.folder);
  switch (word) {
    case "WORKDIR":
      image.folder = rest;
      mkdirSync(join(image.root, rest), { recursive: true });
      break;
    case "COPY":
      copy(here, rest, given);
      break;
    case "RUN": {
      const script = INSTEAD.reduce((text, [command, other]) => text.replace(command, other), rest);
      execFileSync("sh", ["-c", script.replaceAll(" /data", ` ${image.root}/data`)], { cwd: here, stdio: "pipe" });
      break;
    }
    case "ENV": {
      const [name = "", value = ""] = rest.split("=");
      image.environment[name] = value;
      break;
    }
    case "USER":
      image.user = rest;
      break;
    case "HEALTHCHECK":
      image.healthcheck = JSON.parse(rest.replace(/^CMD /, ""));
      break;
    case "CMD":
      image.command = JSON.parse(rest);
      break;
    default:
      expect(["VOLUME", "EXPOSE"]).toContain(word);
  }
}

function copy(here: string, rest: string, { sources, images }: { sources: string; images: Map<string, Image> }): void {
  const [, stage, names = ""] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const words = names.split(" ");
  const from = stage === undefined ? sources : (images.get(stage)?.root ?? "");
  for (const name of words.slice(0, -1)) {
    const isWhole = name === "." || stage !== undefined;
    cpSync(join(from, name), isWhole ? here : join(here, name), { recursive: true, verbatimSymlinks: true });
  }
}

it("the image builds the site, serves it as an unprivileged user, and is healthy", async () => {
  const root = mkdtempSync(join(tmpdir(), "twtxt-image-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const { folder: sources } = blog(null, {
    "package.json": '{ "type": "module" }',
    "package-lock.json": "{}",
    "eleventy.config.js": configOf({ options: '{ "host": "node" }', now: null }),
    "index.md": "# Alice",
  });
  const image = buildImage(sources, root);
  expect(image.user).toBe("node");
  const folder = join(image.root, image.folder);
  expect(readFileSync(join(folder, "_site/index.html"), "utf8")).toContain("Alice");

  const [program, ...args] = image.command;
  expect(program).toBe("node_modules/.bin/eleventy-twtxt");
  const data = join(image.root, image.environment.XDG_DATA_HOME ?? "");
  const words = [process.execPath, "--import", LOOPBACK_ONLY, COMMAND, ...args, "--port", "0"];
  const server = await serveCommand(words, { folder, environment: { XDG_DATA_HOME: data } });
  const { port } = new URL(server.url);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain("Alice");
  const check = image.healthcheck.slice(1).map((word) => word.replace("8080", port));
  execFileSync(process.execPath, check);
  expect(existsSync(join(data, "eleventy-twtxt/sites/alice.example"))).toBe(true);
  expect(await server.end()).toBe(0);
  expect(() => execFileSync(process.execPath, check, { stdio: "pipe" })).toThrow();
});
