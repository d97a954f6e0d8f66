// plugin/client/files/verification-run.ts: verifies all blobs, and remembers what the last time found.
import { type Verification, verifyBlobs } from "../../author/blobs/blob-list.js";
import { type BlobSite, knownFolder } from "../../author/blobs/blob-site.js";
import { BackgroundRun } from "../background-run.js";
import type { ClientContext } from "../room.js";

export class VerificationRun extends BackgroundRun<Verification> {
  readonly #advice: string;
  /** Records of this machine that cannot be read, and what to do, in sentences. */
  damaged: readonly string[] = [];
  /** How many blobs there are to verify. */
  count = 0;

  constructor(context: Pick<ClientContext, "machine" | "ending">) {
    super(context);
    this.#advice = `It is in ${knownFolder(context.machine)}: if you delete it, the site's version of the blob counts as the newest.`;
  }

  /** Resolves when it has begun. @throws TwtxtError as the client of the site */
  verify(site: BlobSite): Promise<void> {
    return this.start(async () => {
      const { count, verifications, damaged } = await verifyBlobs(site, null);
      this.count = count;
      this.damaged = damaged.map((line) => `${line} ${this.#advice}`);
      return verifications;
    });
  }
}
