// plugin/store/s3-list.ts: pages of a bucket's list. docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
import { textsIn } from "./s3-xml.js";

export interface ListPage {
  keys: string[];
  /** Asks for the next page; `null` where this is the last one. */
  next: string | null;
}

/** @param next - of the page before; `null` for the first one */
export function listQuery(prefix: string, next: string | null): Record<string, string> {
  return { "list-type": "2", "encoding-type": "url", prefix, ...(next !== null && { "continuation-token": next }) };
}

/**
 * Reads a page. A key that cannot be decoded is somebody else's, from a server that encodes none, and left out.
 *
 * @throws Error for what is not a whole page: it is never taken for a list of nothing
 */
export function listPage(xml: string): ListPage {
  const [isMore] = textsIn(xml, "IsTruncated");
  const [next = ""] = textsIn(xml, "NextContinuationToken");
  const isWhole = /<\/ListBucketResult>\s*$/.test(xml) && (isMore === "false" || (isMore === "true" && next !== ""));
  if (!isWhole) throw new Error("what it answers is not a whole list");
  return { keys: textsIn(xml, "Key").flatMap(decoded), next: isMore === "true" ? next : null };
}

function decoded(key: string): string[] {
  try {
    return [decodeURIComponent(key)];
  } catch {
    return [];
  }
}
