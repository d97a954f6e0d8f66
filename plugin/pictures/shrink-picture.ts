// plugin/pictures/shrink-picture.ts: makes pictures smaller, with sharp where the site has it installed.
import { TwtxtError } from "../errors.js";
import type { CleanPicture } from "./remove-metadata.js";

type Sharp = typeof import("sharp").default;

/** The longest sides that are tried, in pixels. */
const SIDES = [2048, 1440, 1024, 720, 480];
const QUALITY = 82;

/**
 * A picture of at most this size: itself, or as JPEG without metadata.
 *
 * @param name - of the picture, for messages
 * @param loadSharp - default: the package, if it is installed
 * @throws TwtxtError `too-large` for a picture that cannot be made smaller, with the remedy
 */
export async function shrinkPicture(
  picture: CleanPicture,
  maxBytes: number,
  name: string,
  loadSharp: () => Promise<Sharp | null> = importSharp,
): Promise<CleanPicture> {
  if (picture.bytes.length <= maxBytes) return picture;
  const sharp = await loadSharp();
  const fail = (remedy: string, cause?: unknown) =>
    new TwtxtError("too-large", `${name} has more than ${maxBytes / 1e6} MB. ${remedy}`, { cause });
  if (!sharp) throw fail("Install sharp, which makes larger pictures smaller: npm install sharp");
  const failDamaged = (cause: unknown) => {
    throw fail("It is damaged: save it again.", cause);
  };
  for (const side of SIDES) {
    const size = { width: side, height: side, fit: "inside", withoutEnlargement: true } as const;
    // Upright, because the orientation is metadata.
    const upright = sharp(picture.bytes).rotate().resize(size).flatten({ background: "white" });
    const bytes = await upright.jpeg({ quality: QUALITY }).toBuffer().catch(failDamaged);
    if (bytes.length <= maxBytes) return { bytes, type: "image/jpeg", extension: ".jpg" };
  }
  throw fail("Save it with fewer pixels.");
}

/** Through a variable, so that no bundler looks for the package. @returns `null` if it is not installed */
async function importSharp(name = "sharp"): Promise<Sharp | null> {
  const found: { default: Sharp } | null = await import(name).catch(() => null);
  return found?.default ?? null;
}
