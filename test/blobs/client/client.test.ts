import { expect, it } from "vitest";
import { BlobClient } from "../../../plugin/blobs/client/client.js";
import type { SiteAnswer } from "../../../plugin/http/site-api.js";
import { identityOf } from "../../helpers/identity.js";

it("refuses a list that has no end", async () => {
  let pages = 0;
  const nextPage = async () => {
    pages += 1;
    return { blobs: [], next: pages.toString(16).padStart(64, "0") };
  };
  const client = new BlobClient(async () => ({ json: nextPage }) as SiteAnswer, identityOf(1).publicKey);
  await expect(client.list()).rejects.toThrow("The response of the site is not a list of blobs.");
  expect(pages).toBe(1100);
});
