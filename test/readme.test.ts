import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { BLOBS } from "../plugin/options/blobs.js";
import { CONTACT_PAGE, CONTACT_STATUS } from "../plugin/options/contact-words.js";
import { INBOX } from "../plugin/options/inbox.js";
import { MENTIONS } from "../plugin/options/mentions.js";
import { TIMELINE } from "../plugin/options/timeline.js";
import { ENGLISH } from "../plugin/options/words.js";
import { OPTIONS } from "../plugin/options.js";
import { PREVIEW_FOLDER, SETTINGS_FILE } from "../plugin/site/site.js";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const readme = read("README.md");

interface Documented {
  default?: unknown;
  wrapped?: Documented;
  entries?: Record<string, Documented>;
}

/** The options of an object with their defaults, as a table has them; nested options have both names. */
function listOptions({ entries = {} }: Documented, prefix = ""): string[] {
  return Object.entries(entries).flatMap(([name, schema]) => {
    if (schema.wrapped?.entries) return listOptions(schema.wrapped, `${prefix}${name}.`);
    const standard = schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
    return [`| \`${prefix}${name}\` | ${schema.wrapped ? standard : "needed"} |`];
  });
}

/** The rows of a table of options in a document, each with its description. */
function readRows(file: string, name: string): [option: string, description: string][] {
  const [, table = ""] = new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)\\n<!-- /${name} -->`).exec(read(file)) ?? [];
  const rows = table.matchAll(/^(\| `[^|]+` \| [^|]* \|) (.*) \|$/gm);
  return [...rows].map(([, option = "", description = ""]) => [option, description]);
}

describe("the README", () => {
  it("has every folder that a build writes beside the site ignored by git", () => {
    const [line = ""] = /^2\. Add .* to `\.gitignore`/m.exec(readme) ?? [];
    const folders = [dirname(SETTINGS_FILE), ".cache", ".netlify", PREVIEW_FOLDER];
    expect([...line.matchAll(/`([^`]+)\/`/g)].map(([, folder]) => folder)).toEqual(folders);
  });

  it.each<[string, string, object]>([
    ["options", "README.md", OPTIONS],
    ["mentions options", "docs/mentions.md", MENTIONS],
    ["inbox options", "docs/messages.md", INBOX],
    ["blobs options", "docs/blobs.md", BLOBS],
    ["timeline options", "docs/timeline.md", TIMELINE],
  ])(
    "and the documents that it names list and describe all %s of the code with their defaults",
    (name, file, options) => {
      const rows = readRows(file, name);
      expect(rows.map(([option]) => option)).toEqual(listOptions(options));
      expect(rows.filter(([, description]) => !/^[A-Z"`].{10}/.test(description))).toEqual([]);
    },
  );

  it.each([
    ["mentions", "docs/mentions.md", ENGLISH],
    ["inbox", "docs/messages.md", { ...CONTACT_PAGE, ...CONTACT_STATUS }],
  ])("and its documents have the English words of `%s`", (name, file, english) => {
    const isWord = ([option]: [string, string]) => option.startsWith("| `words.");
    const rows = readRows(file, `${name} options`).filter(isWord);
    const quoted = rows.map(([, description]) => /In English:? "(.*)"\.?$/.exec(description)?.[1]);
    expect(quoted).toEqual(Object.values(english));
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
