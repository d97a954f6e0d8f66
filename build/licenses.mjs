// build/licenses.mjs: the licence notices of bundled packages.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * Writes the name, version and licence of every package in a bundle.
 *
 * @param metafile - the metafile of esbuild
 */
export async function writeLicenses(file, metafile) {
  const packages = Object.keys(metafile.inputs).map(packageFolder);
  const texts = await Promise.all([...new Set(packages)].filter(Boolean).sort().map(licenseText));
  await writeFile(file, texts.join(`\n${"-".repeat(80)}\n\n`));
}

function packageFolder(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

async function licenseText(folder) {
  const manifest = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
  const { name, version, license, author, homepage } = manifest;
  const file = (await readdir(join(root, folder))).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file
    ? await readFile(join(root, folder, file), "utf8")
    : `By ${author?.name ?? author ?? "its contributors"}, ${homepage}. The package contains no licence text.`;
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
