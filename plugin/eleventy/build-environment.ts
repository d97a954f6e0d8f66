// plugin/eleventy/build-environment.ts: what a build needs from the machine.
import type { Clock } from "../clock.js";
import type { FollowedFeed } from "../options/follow.js";
import type { HtmlReader } from "../text/text-from-post.js";
import type { HostChoice } from "./default-host.js";

/** What a build needs from the machine. */
export interface BuildEnvironment {
  now: Clock;
  /** The project's root. */
  root: string;
  host: HostChoice;
  /** The folder of this package. */
  packageFolder: string;
  /** Loads the HTML parser. */
  htmlReader(): HtmlReader;
  /** Reads a bundled script or stylesheet for pages, such as `twtxt-mentions.js`. */
  readAsset(file: string): Promise<string>;
  /** Name and version of this package. */
  client: string;
  /** The path of the file of followed feeds, and those in the option `follow`. */
  followed: { file: string; option: readonly FollowedFeed[] };
}
