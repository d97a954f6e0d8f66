// test/helpers/architecture.ts: parses docs/architecture.md.
import { readFileSync } from "node:fs";

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");

/** A row of the table of folders. */
export interface Folder {
  floor: number;
  /** The path without a slash at its end; for a file directly in plugin/, its name. */
  name: string;
}

/** A step of a path. */
export type Step = { file: string } | { handOver: string };

export const folders: readonly Folder[] = [...page.matchAll(/^\| (\d+) \| `([^`]+?)\/?` \| \S/gm)].map(
  ([, floor = "", name = ""]) => ({ floor: Number(floor), name }),
);

/** The folders and files directly in plugin/, from the top floor to the bottom. */
export const floors: readonly (readonly string[])[] = [...new Set(folders.map(({ floor }) => floor))].map((floor) =>
  folders.filter((folder) => folder.floor === floor && !folder.name.includes("/")).map(({ name }) => name),
);

/** The paths of data, with their headings. */
export const paths: readonly (readonly [heading: string, steps: readonly Step[]])[] = page
  .split(/^### /m)
  .slice(1)
  .map((section) => [section.split("\n")[0] ?? "", stepsIn(section)] as const);

/** Every file and folder that the page names. */
export const named: readonly string[] = [
  ...new Set(
    [...page.matchAll(/`((?:[\w-]+\/)*[\w.-]+\.(?:tsx?|css|md|yaml)|(?:[\w-]+\/)+)`/g)].map(([, name = ""]) => name),
  ),
];

/** Every symbol that the page names with its file, as in "`FIELDS` in `feed/header.ts`". */
export const symbols: readonly { name: string; file: string }[] = [
  ...page.matchAll(/((?:`#?\w+`(?:,| and)? )+)(?:in|of) `((?:[\w-]+\/)*[\w.-]+\.tsx?)`/g),
].flatMap(([, names = "", file = ""]) => (names.match(/\w+(?=`)/g) ?? []).map((name) => ({ name, file })));

function stepsIn(section: string): Step[] {
  return [...section.matchAll(/^\d+\. (Hand-over: )?`([^`]+)`/gm)].map(([, isHandOver, name = ""]) =>
    isHandOver ? { handOver: name } : { file: name },
  );
}
