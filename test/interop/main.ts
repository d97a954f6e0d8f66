// test/interop/main.ts: `npm run test:interop`: independent programs and this package read, verify and open what the other wrote.
import { parseArgs } from "node:util";
import { removeBlogs } from "../demo/blog.js";
import { endAll } from "../demo/process.js";
import { tryFeeds } from "./feeds.js";
import { tryPythonClient } from "./python-client.js";
import { tryMessages } from "./saltpack.js";
import { tryWebmentions } from "./webmentions.js";

/** Each returns how many of its trials failed. */
const TRIALS = {
  feeds: tryFeeds,
  messages: () => tryMessages(values.seed),
  webmentions: tryWebmentions,
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
