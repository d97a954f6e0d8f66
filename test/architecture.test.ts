import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { completeBases, ROUTES, type Route } from "../plugin/site/routes.js";
import * as site from "../plugin/site/site.js";
import { folders, named, paths, type Step, symbols } from "./helpers/architecture.js";
import { roomOf, sources } from "./helpers/sources.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const byFile = new Map(sources.map((source) => [source.file, source]));

/** The files that a file imports, directly or through files of its own top folder. */
function importsOf(file: string): Set<string> {
  const room = roomOf(file);
  const inRoom = new Set([file]);
  const imports = new Set<string>();
  for (const one of inRoom) {
    for (const next of byFile.get(one)?.imports ?? []) {
      imports.add(next);
      if (roomOf(next) === room) inRoom.add(next);
    }
  }
  return imports;
}

/** What a file says itself, or through a file that it imports. */
function mentions(file: string, word: string): boolean {
  return [file, ...(byFile.get(file)?.imports ?? [])].some((one) => byFile.get(one)?.text.includes(word));
}

/** @returns the fault of a step of a path, or `null` */
function faultAt(steps: readonly Step[], index: number): string | null {
  const [before, step] = [steps[index - 1], steps[index]];
  if (before === undefined || step === undefined) return null;
  if ("handOver" in step) return isHandOver(step.handOver) ? null : `${step.handOver} is not a hand-over`;
  if ("handOver" in before)
    return isLeft(before.handOver, steps[index - 2], step) ? null : `${step.file} does not read`;
  const earlier = steps.slice(0, index).flatMap((one) => ("file" in one ? [one.file] : []));
  return earlier.some((file) => importsOf(file).has(step.file)) ? null : `nothing before imports ${step.file}`;
}

function isHandOver(name: string): boolean {
  return name.startsWith(".") ? constantOf(name) !== undefined : endpoints.includes(name);
}

/** Whether both steps use the constant of a handed-over file. A request has an endpoint instead, see {@link isHandOver}. */
function isLeft(name: string, writer: Step | undefined, reader: Step): boolean {
  if (!name.startsWith(".")) return true;
  const constant = constantOf(name) ?? name;
  return [writer, reader].every((step) => step !== undefined && "file" in step && mentions(step.file, constant));
}

/** The name of the constant in site.ts with this value. */
function constantOf(value: string): string | undefined {
  return Object.entries(site).find(([, one]) => one === value)?.[0];
}

/** Each method of each endpoint, as `GET /mentions.json`. */
const endpoints = Object.values<Route>(ROUTES).flatMap((route) => {
  const bases = completeBases({ webmention: "/webmention", inbox: "/inbox" });
  const base = route.capability === null ? "" : bases[route.base];
  return route.methods.map((method) => `${method} ${base}${route.below}`);
});

describe("docs/architecture.md", () => {
  it("names only files and folders that exist", () => {
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((name) => !existsSync(`${root}plugin/${name}`) && !existsSync(root + name))).toEqual([]);
  });

  it("names only symbols that exist in their files", () => {
    expect(symbols.length).toBeGreaterThan(15);
    const isMissing = ({ name, file }: (typeof symbols)[number]) =>
      !new RegExp(`\\b${name}\\b`).test(byFile.get(file)?.text ?? "");
    expect(symbols.filter(isMissing)).toEqual([]);
  });

  it("has a line for each folder of plugin/, from the top floor to the ground", () => {
    const inUse = [...new Set(sources.map(({ file }) => (file.includes("/") ? dirname(file) : file)))];
    const isPartOfCommand = (name: string) => name.startsWith("cli/");
    expect(folders.map(({ name }) => name).sort()).toEqual(inUse.filter((name) => !isPartOfCommand(name)).sort());
    expect(folders.map(({ floor }) => floor)).toEqual(folders.map(({ floor }) => floor).sort((a, b) => a - b));
  });

  it("has nine paths", () => {
    expect(paths.map(([heading]) => heading)).toHaveLength(9);
    for (const [, steps] of paths) expect(steps.length).toBeGreaterThan(10);
  });

  it.each(paths)("%s: each file is imported by an earlier one, or reads a hand-over", (_heading, steps) => {
    expect(steps.flatMap((_, index) => faultAt(steps, index) ?? [])).toEqual([]);
  });
});
