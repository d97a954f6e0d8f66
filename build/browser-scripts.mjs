// build/browser-scripts.mjs [FOLDER]: bundles the scripts and the stylesheet of plugin/browser/ into dist/browser/ or another folder.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

await build({
  entryPoints: [
    ...["twtxt-mentions.ts", "twtxt-contact.ts", "twtxt-contact-conversation.ts"],
    ...["twtxt-comments.ts", "twtxt-comments-form.ts", "twtxt.css"],
    ...["client.ts", "client.css"],
  ].map((file) => join(root, "plugin/browser", file)),
  outdir: process.argv[2] ?? join(root, "dist/browser"),
  bundle: true,
  minify: true,
  format: "esm",
  logLevel: "warning",
});
