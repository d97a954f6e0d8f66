// test/interop/main.ts: `npm run test:interop`: this package and independent programs read, verify and open each other's data.
import { parseArgs } from "node:util";
import { removeBlogs } from "../demo/blog.js";
import { endAll } from "../demo/process.js";
import { tryFeeds } from "./feeds.js";
import { tryNetworks } from "./networks.js";
import { tryPythonClient } from "./python-client.js";
import { tryMessages } from "./saltpack.js";
import { trySmallWeb } from "./small-web.js";
import { tryWebmentions } from "./webmentions.js";

/** Each returns the number of its failed trials. */
const TRIALS = {
  feeds: tryFeeds,
  messages: () => tryMessages(values.seed),
  webmentions: tryWebmentions,
  "small-web": trySmallWeb,
  networks: tryNetworks,
  client: tryPythonClient,
};

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" }, only: { type: "string" } } });
let failures = 0;
try {
  for (const [name, trial] of Object.entries(TRIALS)) {
    if ((values.only ?? name) === name) failures += await trial();
  }
} finally {
  await endAll();
  removeBlogs();
}
process.exitCode = failures === 0 ? 0 : 1;
