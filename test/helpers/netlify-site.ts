// test/helpers/netlify-site.ts: the environment of a Netlify function.
import { vi } from "vitest";
import type { TwtxtOptions } from "../../plugin/options.js";
import type { PublishedSite } from "../../plugin/site/site.js";
import { type BlobsSite, blobsSite } from "./blobs-server.js";
import { builtHostSettings } from "./built-site.js";

/**
 * The values of a site that a generated function passes to its handler.
 *
 * @param url - the site's URL, without a slash at its end
 */
export function siteOf(url: string, options: Partial<TwtxtOptions> = {}): PublishedSite {
  const settings = builtHostSettings(url, { host: "netlify", ...options });
  return { settings, pages: { feeds: [settings.feedUrl], pages: [`${url}/`], twts: [] } };
}

/** A site's Blobs, with the environment variable that Netlify sets. The caller resets the environment. */
export async function netlifyBlobs(): Promise<BlobsSite> {
  const blobs = await blobsSite();
  const { url } = blobs;
  const context = { edgeURL: url, uncachedEdgeURL: url, token: "token", siteID: "site", primaryRegion: "us-east-1" };
  vi.stubEnv("NETLIFY_BLOBS_CONTEXT", Buffer.from(JSON.stringify(context)).toString("base64"));
  return blobs;
}
