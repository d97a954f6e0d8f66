import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** A package in a lock file, by its folder; the project itself has the folder "". */
interface LockedPackage {
  version?: string;
  integrity?: string;
  /** Contained in the archive of another package, which has a hash. */
  inBundle?: boolean;
  /** A link to a folder of the project. */
  link?: boolean;
}

/** @returns the packages that npm would install without checking their contents */
function findPackagesWithoutIntegrity(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages)
    .filter(([folder, { integrity, inBundle, link }]) => folder !== "" && !inBundle && !link && !integrity)
    .map(([folder]) => folder);
}

describe("lock files", () => {
  it.each([
    "package-lock.json",
    "build/api-docs/package-lock.json",
    "test/interop/networks/package-lock.json",
    "test/netlify/package-lock.json",
  ])("%s has a hash for every package", (file) => {
    const { packages } = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));

    expect(Object.keys(packages).length).toBeGreaterThan(20);
    expect(findPackagesWithoutIntegrity(packages)).toEqual([]);
  });

  it("a package without a hash is found", () => {
    const packages = { "": {}, "node_modules/a": { version: "1.0.0" }, "node_modules/b": { integrity: "sha512-x" } };

    expect(findPackagesWithoutIntegrity(packages)).toEqual(["node_modules/a"]);
  });
});
