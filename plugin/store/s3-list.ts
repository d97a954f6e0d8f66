// plugin/store/s3-list.ts: ListObjectsV2 requests. docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
import { textsIn } from "./s3-xml.js";

export interface ListPage {
  keys: string[];
  /** Token of the next page; `null` on the last page. */
  next: string | null;
}

/** @param next - the token from the previous page; `null` for the first page */
export function listQuery(prefix: string, next: string | null): Record<string, string> {
  return { "list-type": "2", "encoding-type": "url", prefix, ...(next !== null && { "continuation-token": next }) };
}

/**
 * Parses a page. Keys that cannot be decoded are skipped: the server does not encode keys, and they are not this store's.
 *
 * @throws Error for an incomplete page, which must not look like an empty list
 */
export function listPage(xml: string): ListPage {
  const [isMore] = textsIn(xml, "IsTruncated");
  const [next = ""] = textsIn(xml, "NextContinuationToken");
  const isWhole = /<\/ListBucketResult>\s*$/.test(xml) && (isMore === "false" || (isMore === "true" && next !== ""));
  if (!isWhole) throw new Error("its list of keys is incomplete");
  return { keys: textsIn(xml, "Key").flatMap(decoded), next: isMore === "true" ? next : null };
}

function decoded(key: string): string[] {
  try {
    return [decodeURIComponent(key)];
  } catch {
    return [];
  }
}
