// plugin/eleventy/mentions/avatars.ts: pictures of the authors of mentions, downloaded by the build.
import { hash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mapInParallel } from "../../concurrency.js";
import { ifTwtxtError } from "../../errors.js";
import { groupBy } from "../../groups.js";
import type { Ask } from "../../http/guard.js";
import { canParseUrl } from "../../url.js";

export interface Avatar {
  /** File name: a hash of the URL, and the extension of the image type. */
  name: string;
  content: Uint8Array;
}

const MAX_BYTES = 256 * 1024;
/** Maximum number of pictures, from the newest mentions. */
const MAX_AVATARS = 500;
/** Hosts requested at the same time. Each is asked for one picture at a time. */
const CONCURRENT_HOSTS = 32;

/** Raster images, recognized by their first bytes. The `Content-Type` is not trusted. */
const IMAGE_TYPES: readonly [extension: string, start: RegExp][] = [
  ["png", /^\x89PNG\r\n\x1a\n/],
  ["jpg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF....WEBP/s],
  ["avif", /^....ftypavi[fs]/s],
];

export interface AvatarSource {
  folder: string;
  ask: Ask;
  /** Ends the downloads. The next build gets the other pictures. */
  signal: AbortSignal;
}

/**
 * Downloads the pictures, unless an earlier build on this machine has cached them.
 *
 * @returns the available pictures by URL
 */
export async function loadAvatars(
  urls: readonly string[],
  { folder, ask, signal }: AvatarSource,
): Promise<Map<string, Avatar>> {
  const cached = new Set(await readdir(folder).catch(() => []));
  const avatars = new Map<string, Avatar>();
  const wanted = [...new Set(urls)].filter((url) => canParseUrl(url)).slice(0, MAX_AVATARS);
  const hosts = [...groupBy(wanted, (url) => new URL(url).host).values()];
  await mapInParallel(hosts, CONCURRENT_HOSTS, async (urlsOfHost) => {
    for (const url of urlsOfHost) {
      const avatar = (await readAvatar(url, folder, cached)) ?? (await fetchAvatar(url, ask, signal));
      if (avatar) avatars.set(url, avatar);
    }
  });
  await mkdir(folder, { recursive: true });
  for (const { name, content } of avatars.values()) if (!cached.has(name)) await writeFile(join(folder, name), content);
  return avatars;
}

async function readAvatar(url: string, folder: string, cached: ReadonlySet<string>): Promise<Avatar | null> {
  const name = IMAGE_TYPES.map(([extension]) => toFileName(url, extension)).find((candidate) => cached.has(candidate));
  return name === undefined ? null : { name, content: await readFile(join(folder, name)) };
}

/** @returns `null` if the response is not a picture or is too large, or if the request fails */
async function fetchAvatar(url: string, ask: Ask, signal: AbortSignal): Promise<Avatar | null> {
  const read = async () => {
    const response = await ask(url, { maxBytes: MAX_BYTES, signal });
    return { status: response.status, content: await response.bytes() };
  };
  const found = await read().catch(ifTwtxtError(() => null));
  const start = found?.content.subarray(0, 16).toString("latin1") ?? "";
  const type = found?.status === 200 ? IMAGE_TYPES.find(([, pattern]) => pattern.test(start)) : undefined;
  return found && type ? { name: toFileName(url, type[0]), content: found.content } : null;
}

function toFileName(url: string, extension: string): string {
  return `${hash("sha256", url).slice(0, 32)}.${extension}`;
}
