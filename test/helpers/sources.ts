// test/helpers/sources.ts: the files of plugin/ and netlify/, with their imports.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const plugin = fileURLToPath(new URL("../../plugin", import.meta.url));
const netlify = fileURLToPath(new URL("../../netlify", import.meta.url));

export interface Source {
  /** The path below plugin/, such as `feed/hash.ts`. */
  file: string;
  /** The folder in plugin/, or the file itself. */
  room: string;
  /** Files of plugin/, and names of packages. */
  imports: string[];
  text: string;
}

export const sources = sourcesIn(plugin);
export const netlifySources = sourcesIn(netlify);

/** The imported file of plugin/, or the name of the imported package. */
export function importedFile(name: string, from: string): string {
  if (!name.startsWith(".")) return name;
  const file = relative(plugin, resolve(plugin, from, "..", name)).replace(/\.js$/, ".ts");
  return existsSync(join(plugin, file)) ? file : file.replace(/\.ts$/, ".tsx");
}

export function roomOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function sourcesIn(folder: string): Source[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  return files.map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) =>
      importedFile(name, file),
    );
    return { file, room: roomOf(file), imports, text };
  });
}
