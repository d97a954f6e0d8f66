// plugin/browser/client-convert-picture.ts: converts a picture that cannot be added as it is, such as HEIC from a phone, into a JPEG.

/** Larger pictures are scaled down. Browsers on phones refuse larger canvases. */
const MAX_PIXELS = 16_000_000;
const QUALITY = 0.9;
/** Pictures whose media type some systems do not know. */
const NAMED = /\.(?:heic|heif|avif|bmp|tiff?)$/i;

/**
 * @param accepted - media types that need no conversion, separated by commas
 * @returns the file itself if it is accepted, or is not a picture; `null` for a picture that this browser cannot decode
 */
export async function convertPicture(file: File, accepted: string): Promise<File | null> {
  const isPicture = NAMED.test(file.name) || (file.type.startsWith("image/") && file.type !== "image/svg+xml");
  if (accepted.split(",").includes(file.type) || !isPicture) return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (picture.width * picture.height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    const jpeg = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
    return jpeg && new File([jpeg], file.name.replace(/(?:\.[^.]*)?$/, ".jpg"), { type: "image/jpeg" });
  } catch {
    return null;
  }
}
