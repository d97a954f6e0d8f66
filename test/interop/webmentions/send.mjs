// send.mjs FOLDER SOURCE TARGET: sends a webmention with npm's send-webmention, which is installed in FOLDER, and prints the status.
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, source, target] = process.argv.slice(2);
const sendWebmention = createRequire(join(folder, "package.json"))("send-webmention");
sendWebmention(source, target, (error, { success, res } = {}) => {
  if (error) throw error;
  if (!success) throw new Error(`The webmention was not sent: ${res?.statusCode ?? "no endpoint"}.`);
  console.log(res.statusCode);
  res.resume();
});
