import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { getDescription } from "valibot";
import { describe, expect, it } from "vitest";
import { BLOBS } from "../plugin/options/blobs.js";
import { INBOX } from "../plugin/options/inbox.js";
import { MENTIONS } from "../plugin/options/mentions.js";
import { TIMELINE } from "../plugin/options/timeline.js";
import { OPTIONS } from "../plugin/options.js";
import { PREVIEW_FOLDER, SETTINGS_FILE } from "../plugin/site/site.js";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const readme = read("README.md");

/** The table of options, generated from the code. */
function optionsTable(): string {
  const rows = Object.entries(OPTIONS.entries).map(([name, schema]) => {
    const inner = "wrapped" in schema ? schema.wrapped : schema;
    const standard = "default" in schema && schema.default !== undefined ? `\`${JSON.stringify(schema.default)}\`` : "";
    const needed = "wrapped" in schema ? standard : "needed";
    return `| \`${name}\` | ${needed} | ${getDescription(inner)} |`;
  });
  return ["| Option | Default | |", "|---|---|---|", ...rows].join("\n");
}

/** The table of the options below an option, with nested names. */
function tableOf({ entries }: { entries: object }): string {
  const rows = rowsOf(entries as never, "");
  return ["| Option | Default | |", "|---|---|---|", ...rows].join("\n");
}

interface Documented {
  type: string;
  default?: unknown;
  wrapped?: Documented;
  pipe?: Documented[];
  entries?: Record<string, Documented>;
}

function rowsOf(entries: Record<string, Documented>, prefix: string): string[] {
  return Object.entries(entries).flatMap(([name, schema]) => {
    const whole = schema.pipe?.[0] ?? schema;
    const inner = whole.wrapped ?? whole;
    const parts = inner.entries ?? inner.pipe?.[0]?.entries;
    if (parts) return rowsOf(parts, `${prefix}${name}.`);
    const text = getDescription(schema as never) ?? getDescription(whole as never) ?? getDescription(inner as never);
    const standard = whole.default === undefined ? "" : `\`${JSON.stringify(whole.default)}\``;
    return [`| \`${prefix}${name}\` | ${standard} | ${text} |`];
  });
}

describe("the README", () => {
  it("has every folder that a build writes beside the site ignored by git", () => {
    const [line = ""] = /^2\. Add .* to `\.gitignore`/m.exec(readme) ?? [];
    const folders = [dirname(SETTINGS_FILE), ".cache", ".netlify", PREVIEW_FOLDER];
    expect([...line.matchAll(/`([^`]+)\/`/g)].map(([, folder]) => folder)).toEqual(folders);
  });

  it("lists every option of the code with its default", () => {
    const [, table = ""] = /<!-- options -->\n([\s\S]*?)\n<!-- \/options -->/.exec(readme) ?? [];
    expect(table).toBe(optionsTable());
  });

  it.each([
    ["mentions", "docs/mentions.md", MENTIONS],
    ["inbox", "docs/messages.md", INBOX],
    ["blobs", "docs/blobs.md", BLOBS],
    ["timeline", "docs/timeline.md", TIMELINE],
  ])("lists every option of `%s` in its own document", (name, file, options) => {
    const marks = new RegExp(`<!-- ${name} options -->\\n([\\s\\S]*?)\\n<!-- \\/${name} options -->`);
    expect(marks.exec(read(file))?.[1]).toBe(tableOf(options));
  });

  it("names the two commands that CI runs", () => {
    expect(readme).toContain("npm ci && npm start");
    expect(readme).toContain("npm ci && npm test");
    expect(read(".ci/run")).toContain("npm ci && npm test");
    expect(read(".ci/start-headless.mjs")).toContain('spawn("npm", ["start"]');
  });
});

/** A document without its code blocks. */
function prose(file: string): string {
  return read(file).replace(/^ *```[\s\S]*?^ *```/gm, "");
}

/** The IDs that GitHub generates for the headings of a document, and those of its anchors. */
function headingIds(file: string): string[] {
  const headings = [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => text);
  const ids = headings.map((text) =>
    text
      .replace(/\[(.*?)\]\(.*?\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  const anchors = [...prose(file).matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  return [...ids, ...anchors];
}

describe("every document", () => {
  const docs = readdirSync(new URL("../docs", import.meta.url), { recursive: true, encoding: "utf8" });
  const files = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ...docs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
  ];

  it.each(files)("links to files that exist: %s", (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:|blob:|#)([^)#]+)/g)].map(([, path = ""]) => path);
    for (const path of links) expect(() => read(posix.join(posix.dirname(file), path))).not.toThrow();
  });

  it.each(files)("links to headings that exist: %s", (file) => {
    const links = [...prose(file).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, path = "", heading = ""]) => {
      const target = path === "" ? file : posix.join(posix.dirname(file), path);
      return target.endsWith(".md") && !headingIds(target).includes(heading);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it.each(files)("names tests that exist: %s", (file) => {
    const tests = [...read(file).matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    const missing = tests.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)));
    expect(missing).toEqual([]);
  });
});
