import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { floors } from "./helpers/architecture.js";
import { importedFile, netlifySources, roomOf, sources } from "./helpers/sources.js";

const PURE = ["feed", "messages/saltpack"];
const NODE = /^node:/;

/** Modules that can open connections, and their exports that open none. */
const CLIENTS = /^(?:undici|node:(?:https?|http2|net|tls|dgram))$/;
const OPENS_NOTHING = ["STATUS_CODES", "Server", "createServer", "isIP"];

/** The values that a file imports from these modules; `*` for all values. */
function valuesFrom(modules: RegExp, text: string): string[] {
  const named = [...text.matchAll(/^import (?!type )([^;"]+?) from "([^"]+)"/gm)];
  const whole = [...text.matchAll(/\bimport\("([^"]+)"\)|^export [^;"]+ from "([^"]+)"/gm)];
  return [
    ...named.filter(([, , module = ""]) => modules.test(module)).flatMap(([, names = ""]) => importedNames(names)),
    ...whole.filter(([, module, again]) => modules.test(module ?? again ?? "")).map(() => "*"),
  ];
}

/** @param names - the text between `import` and `from` */
function importedNames(names: string): string[] {
  const all = names.replace(/[{}]/g, "").split(",");
  return all.flatMap((name) => (/^\s*(?:type .*)?$/.test(name) ? [] : name.trim().replace(/(?<!\*) as .*/, "")));
}

function withoutComments(text: string): string {
  return text.replace(/^ *(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, "");
}

/** The index of a folder's floor, from the top. An import goes to a lower floor, or stays in its own folder. */
function floorOf(room: string): number {
  return floors.findIndex((rooms) => rooms.includes(room));
}

describe("the code of plugin/", () => {
  it("has a floor for every folder", () => {
    expect(sources.filter(({ room }) => floorOf(room) < 0).map(({ file }) => file)).toEqual([]);
  });

  it("has imports only from the same folder, lower floors, and other folders of floor 9", () => {
    const ground = floorOf("feed");
    const upward = sources.flatMap(({ file, room, imports }) =>
      imports
        .filter((name) => /\.tsx?$/.test(name) && roomOf(name) !== room)
        .filter((name) => {
          const target = floorOf(roomOf(name));
          return target < floorOf(room) || (target === floorOf(room) && target !== ground);
        })
        .map((name) => `${file} -> ${name}`),
    );
    expect(upward).toEqual([]);
  });

  it("has no circular imports", () => {
    const byFile = new Map(sources.map((source) => [source.file, source]));
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      (byFile.get(from)?.imports ?? []).some(
        (next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))),
      );
    expect(sources.filter(({ file }) => reaches(file, file)).map(({ file }) => file)).toEqual([]);
  });

  it("has no clock, network or files in its pure modules", () => {
    const impure = sources
      .filter(({ file }) => PURE.some((room) => file.startsWith(`${room}/`)))
      .filter(
        ({ imports, text }) =>
          imports.some((name) => NODE.test(name)) ||
          /Date\.now|new Date\(\)|Math\.random|\bfetch\(|process\./.test(text),
      );
    expect(impure.map(({ file }) => file)).toEqual([]);
  });

  it("reads the environment and the clock only in its outer modules", () => {
    const readers = (what: RegExp) => sources.filter(({ text }) => what.test(text)).map(({ file }) => file);
    expect(readers(/process\.env/).filter((file) => !["cli", "author"].includes(roomOf(file)))).toEqual(["plugin.ts"]);
    const clockReaders = readers(/Date\.now|new Date\(\)/).filter(
      (file) => !["cli", "author", "browser"].includes(roomOf(file)),
    );
    expect(clockReaders).toEqual(["plugin.ts"]);
  });

  it("opens connections only in transport/, for the guard and for fetchSafely", () => {
    const all = [...sources, ...netlifySources];
    const opening = all.filter(({ text }) => valuesFrom(CLIENTS, text).some((name) => !OPENS_NOTHING.includes(name)));
    expect(opening.map(({ file }) => file)).toEqual([
      "transport/http-client.ts",
      "transport/small-web.ts",
      "transport/undici-client.ts",
    ]);
    const using = all
      .filter(({ text }) => /\b(?:sendRequest|createUndiciClient|readSmallWeb)\b/.test(text))
      .map(({ file }) => file);
    expect(using.sort()).toEqual([
      "http/guard.ts",
      "transport/fetch.ts",
      "transport/http-client.ts",
      "transport/small-web.ts",
      "transport/undici-client.ts",
    ]);
  });

  it.each([
    ['import http from "node:http";', ["http"]],
    ['import * as net from "node:net";', ["* as net"]],
    ['import { type Socket, connect as open } from "node:net";', ["connect"]],
    ['import {\n  createServer,\n  get,\n} from "node:http";', ["createServer", "get"]],
    ['const { fetch } = await import("undici");', ["*"]],
    ['export * from "node:tls";', ["*"]],
    ['import type { Server } from "node:http";', []],
    ['import { request } from "./request.js";', []],
  ])("finds the imports that can open a connection in: %s", (text, names) => {
    expect(valuesFrom(CLIENTS, text)).toEqual(names);
  });

  it("uses the platform's fetch, which can end a process of Node.js, only in browser scripts", () => {
    const { overrides } = JSON.parse(readFileSync(new URL("../biome.json", import.meta.url), "utf8"));
    const permitted: string[] = overrides[0].includes.filter((file: string) => file.startsWith("!"));
    const using = [
      ...sources.map(({ file, text }) => ({ file: `plugin/${file}`, text })),
      ...netlifySources.map(({ file, text }) => ({ file: `netlify/${file}`, text })),
    ].filter(({ text }) =>
      /\b(?:globalThis|window|self)(?:\.|\?\.|\[")fetch\b/.test(text.replace(/\btypeof globalThis\.fetch\b/g, "")),
    );
    expect(using.map(({ file }) => `!${file}`).filter((file) => !permitted.includes(file))).toEqual([]);
  });

  it("uses URL.canParse only in url.ts, which works around its bug in Node.js 20 and 22", () => {
    expect(
      sources.filter(({ text }) => /\bURL\.canParse\b/.test(withoutComments(text))).map(({ file }) => file),
    ).toEqual(["url.ts"]);
  });

  it("imports plugin/eleventy/ only in the plugin's entry", () => {
    const knowing = sources.filter(
      ({ room, imports }) => room !== "eleventy" && imports.some((name) => roomOf(name) === "eleventy"),
    );
    expect(knowing.map(({ file }) => file)).toEqual(["plugin.ts"]);
  });

  it("has the paths of endpoints only in the table of routes", () => {
    const path = /["'`](?:\/api\/v1\/|\/shared\b|\/health\b|\/mentions\.(?:atom|json|txt)\b)/;
    // The client is a separate server, and networks have APIs of their own.
    const others = sources.filter(({ room, file }) => room !== "client" && !file.startsWith("mentions/networks/"));
    const naming = [...others, ...netlifySources].filter(({ text }) => path.test(withoutComments(text)));
    expect(naming.map(({ file }) => file)).toEqual(["site/routes.ts"]);
  });

  it("has browser scripts that do not import Node.js; those for mentions and the start of the contact form import no heavy modules", () => {
    const byFile = new Map(sources.map((source) => [source.file, source]));
    const reachedFrom = (entry: string) => {
      const reached = new Set([entry]);
      for (const file of reached) {
        for (const name of staticImports(byFile.get(file)?.text ?? "", file)) reached.add(name);
      }
      return [...reached];
    };
    const scripts = sources.filter(({ room }) => room === "browser").map(({ file }) => file);
    expect(scripts.flatMap(reachedFrom).filter((name) => NODE.test(name))).toEqual([]);
    const isHeavy = (name: string) => /^(?:messages\/|@noble\/|valibot$)/.test(name);
    expect(reachedFrom("browser/twtxt-contact-conversation.ts").some(isHeavy)).toBe(true);
    for (const small of ["browser/twtxt-mentions.ts", "browser/twtxt-contact.ts"]) {
      expect(reachedFrom(small).filter(isHeavy)).toEqual([]);
    }
  });

  it("imports Netlify's packages in only one file", () => {
    const knowing = sources.filter(({ imports }) => imports.some((name) => name.startsWith("@netlify/")));
    expect(knowing.map(({ file }) => file)).toEqual(["store/netlify.ts"]);
  });

  it("has no top-level await, which would break require()", () => {
    expect(
      sources.filter(({ text }) => /^(?:export )?(?:const .*= )?await /m.test(text)).map(({ file }) => file),
    ).toEqual([]);
  });
});

describe("the main entry", () => {
  it("does not load the HTML parser, the elliptic curves or the guard's address checks until a build needs them", () => {
    const byFile = new Map(sources.map((source) => [source.file, source]));
    const reached = new Set<string>();
    const walk = (file: string) => {
      for (const name of staticImports(byFile.get(file)?.text ?? "", file)) {
        if (reached.has(name)) continue;
        reached.add(name);
        walk(name);
      }
    };
    walk("index.ts");
    const packages = [...reached].filter((name) => !name.endsWith(".ts") && !NODE.test(name)).sort();
    expect(packages).toEqual(["@noble/hashes/blake2.js", "@noble/hashes/sha2.js", "@scure/base", "leven", "valibot"]);
  });
});

describe("a server", () => {
  it("has no import() outside of later(), which loads modules before it listens and keeps them", () => {
    const byFile = new Map(sources.map((source) => [source.file, source]));
    const reached = new Set(["cli/serve.ts"]);
    for (const file of reached) {
      const { text = "" } = byFile.get(file) ?? {};
      for (const name of [...staticImports(text, file), ...dynamicImports(text, file)]) reached.add(name);
    }
    const others = (file: string) => {
      const text = withoutComments(byFile.get(file)?.text ?? "");
      return dynamicImports(text.replace(/^const \w+ = later\([^;]+;$/gm, ""), file);
    };
    // The keychain of the author's machine, which no server opens.
    expect([...reached].filter((file) => others(file).length > 0)).toEqual(["keys/places.ts"]);
    expect(reached).toContain("host/verification.ts");
  });
});

describe("a benchmark", () => {
  it("loads only modules that exist in the compiled package", () => {
    const files = new Set(sources.map(({ file }) => file));
    const benches = filesBelow(fileURLToPath(new URL("./bench/", import.meta.url)));
    const loaded = benches.flatMap((file) => [
      ...readFileSync(file, "utf8").matchAll(/"((?:cli|http|keys|mentions|messages|site|store)\/[\w/-]+)\.js"/g),
    ]);
    expect(loaded.map(([, module]) => `${module}.ts`).filter((file) => !files.has(file))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(10);
  });
});

describe("a helper of tests", () => {
  it("registers its hooks with hooks.ts, because a worker imports it once for many files", () => {
    const helpers = filesBelow(fileURLToPath(new URL(".", import.meta.url))).filter(
      (file) => file.endsWith(".ts") && !/\.(?:test|spec)\.ts$/.test(file),
    );
    const registering = /import \{[^}]*\b(?:after|before)(?:Each|All)\b[^}]*\} from "vitest"/;
    const hooked = helpers.filter((file) => registering.test(readFileSync(file, "utf8"))).map((file) => basename(file));
    expect(hooked).toEqual(["setup.ts"]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules")
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

function dynamicImports(text: string, file: string): string[] {
  return [...text.matchAll(/(?<!typeof )\bimport\("([^"]+)"\)/g)].map(([, name = ""]) => importedFile(name, file));
}

/** The imports that are loaded with a file: neither types nor dynamic imports. */
function staticImports(text: string, file: string): string[] {
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gm)].map(([, name = ""]) =>
    importedFile(name, file),
  );
}
