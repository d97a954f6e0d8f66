// plugin/http/media-type.ts: what a `Content-Type` says. RFC 9110, 8.3

/** The type of contents in lower case, without its parameters; empty where nobody says it. */
export function essenceOf(type: string | null | undefined): string {
  const [essence = ""] = (type ?? "").split(";");
  return essence.trim().toLowerCase();
}
