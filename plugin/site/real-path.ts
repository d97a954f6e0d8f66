// plugin/site/real-path.ts: the real places of files: symbolic links are resolved.
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";

/** Whether a file is a folder itself or below it. Both are absolute. */
export function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way.split(sep)[0] !== ".." && !isAbsolute(way);
}

/**
 * Resolves the symbolic links of a path. Its last parts need not exist.
 *
 * @param path - absolute
 * @returns `null` for a link that leads to nothing: what is written there could end up anywhere
 */
export function findRealPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    if (isLink(path)) return null;
    const above = dirname(path);
    const real = above === path ? above : findRealPath(above);
    return real && join(real, basename(path));
  }
}

/** Whether a path is a symbolic link. A name that is too long for the file system is none. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
