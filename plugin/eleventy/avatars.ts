// plugin/eleventy/avatars.ts: pictures of those who mention us, downloaded at build time and served by the site itself.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TwtxtError } from "../errors.js";
import type { Ask } from "../http/guard.js";

/** A picture as a file of the site. */
export interface Avatar {
  /** The file's name: a hash of the URL, and the extension of what it holds. */
  name: string;
  content: Uint8Array;
}

const MAX_BYTES = 256 * 1024;
/** How many a site shows: those of who mentioned it last. */
const MAX_AVATARS = 500;
/** How many hosts are asked at once, each for one picture after the other. */
const CONCURRENT_HOSTS = 32;

/** Raster images only, by their first bytes: what a server calls them is not believed. */
const KINDS: readonly [extension: string, start: RegExp][] = [
  ["png", /^\x89PNG\r\n\x1a\n/],
  ["jpg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF....WEBP/s],
  ["avif", /^....ftypavi[fs]/s],
];

/** Where pictures come from, and where they stay. */
export interface AvatarSource {
  /** Where they are kept between builds. */
  folder: string;
  ask: Ask;
  /** Ends the asking: what is not there by then is left to the next build. */
  signal: AbortSignal;
}

/**
 * Gets the pictures, each once for all builds on this machine.
 *
 * @returns those that could be had, by their URLs
 */
export async function avatarsOf(
  urls: readonly string[],
  { folder, ask, signal }: AvatarSource,
): Promise<Map<string, Avatar>> {
  const kept = new Set(await readdir(folder).catch(() => []));
  const avatars = new Map<string, Avatar>();
  const wanted = urlsByHost(urls);
  const askHosts = async () => {
    for (let ofHost = wanted.shift(); ofHost; ofHost = wanted.shift()) {
      for (const url of ofHost) {
        const avatar = (await readAvatar(url, folder, kept)) ?? (await fetchAvatar(url, ask, signal));
        if (avatar) avatars.set(url, avatar);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_HOSTS }, askHosts));
  await mkdir(folder, { recursive: true });
  for (const { name, content } of avatars.values()) if (!kept.has(name)) await writeFile(join(folder, name), content);
  return avatars;
}

function urlsByHost(urls: readonly string[]): string[][] {
  const hosts = new Map<string, string[]>();
  for (const url of [...new Set(urls)].filter((each) => URL.canParse(each)).slice(0, MAX_AVATARS)) {
    const { host } = new URL(url);
    const ofHost = hosts.get(host);
    if (ofHost) ofHost.push(url);
    else hosts.set(host, [url]);
  }
  return [...hosts.values()];
}

async function readAvatar(url: string, folder: string, kept: ReadonlySet<string>): Promise<Avatar | null> {
  const name = KINDS.map(([extension]) => nameOf(url, extension)).find((candidate) => kept.has(candidate));
  return name === undefined ? null : { name, content: await readFile(join(folder, name)) };
}

/** @returns `null` for what is no picture, too large, or not to be had */
async function fetchAvatar(url: string, ask: Ask, signal: AbortSignal): Promise<Avatar | null> {
  try {
    const response = await ask(url, { maxBytes: MAX_BYTES, signal });
    const content = await response.bytes();
    const start = content.subarray(0, 16).toString("latin1");
    const kind = response.status === 200 ? KINDS.find(([, pattern]) => pattern.test(start)) : undefined;
    return kind ? { name: nameOf(url, kind[0]), content } : null;
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}

function nameOf(url: string, extension: string): string {
  return `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.${extension}`;
}
