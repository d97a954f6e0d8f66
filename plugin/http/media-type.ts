// plugin/http/media-type.ts: the header `Content-Type`. RFC 9110, 8.3

/** The media type in lower case, without parameters; empty if there is none. */
export function essenceOf(type: string | null | undefined): string {
  const [essence = ""] = (type ?? "").split(";");
  return essence.trim().toLowerCase();
}
