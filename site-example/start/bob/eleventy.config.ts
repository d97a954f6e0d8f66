// site-example/start/bob/eleventy.config.ts: Bob's blog, the smallest one that shows mentions.

import { twtxt } from "../../../build/plugin-from-source.js";
import type { EleventyConfig } from "../../../plugin/eleventy/eleventy.js";

const { SITE_URL = "http://localhost:8081", SITE_KEY, NEIGHBOUR_URL = "http://localhost:8080" } = process.env;

export default function (config: EleventyConfig) {
  twtxt(config, {
    url: SITE_URL,
    nick: "bob",
    description: "Trains, mostly.",
    host: "node",
    ...(SITE_KEY ? { key: SITE_KEY } : {}),
    follow: [{ nick: "alice", url: `${NEIGHBOUR_URL}/twtxt.txt` }],
    mentions: { layout: "base.njk" },
    inbox: { layout: "base.njk" },
  });
}
