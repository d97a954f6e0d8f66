// test/helpers/netlify-site.ts: the environment of a Netlify function.
import { vi } from "vitest";
import type { TwtxtOptions } from "../../plugin/options.js";
import type { PublishedSite } from "../../plugin/site/site.js";
import { type BlobsSite, blobsSite } from "./blobs-server.js";
import { builtHostSettings } from "./built-site.js";

/**
 * A site as a generated function names it.
 *
 * @param url - where it is, without a slash at its end
 */
export function siteOf(url: string, options: Partial<TwtxtOptions> = {}): PublishedSite {
  const settings = builtHostSettings(url, { host: "netlify", ...options });
  return { settings, pages: { feeds: [settings.feedUrl], pages: [`${url}/`], twts: [] } };
}

/** A site's Blobs, named in the environment as Netlify does. The caller resets the environment. */
export async function netlifyBlobs(): Promise<BlobsSite> {
  const blobs = await blobsSite();
  const { url } = blobs;
  const context = { edgeURL: url, uncachedEdgeURL: url, token: "token", siteID: "site", primaryRegion: "us-east-1" };
  vi.stubEnv("NETLIFY_BLOBS_CONTEXT", Buffer.from(JSON.stringify(context)).toString("base64"));
  return blobs;
}
