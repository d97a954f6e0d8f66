// Runs `npm start`, waits for the feed's address, fetches the feed, and ends what it started.
import { spawn } from "node:child_process";

const child = spawn("npm", ["start"], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
const giveUp = setTimeout(() => end("npm start printed no address of a feed within two minutes."), 120_000);
let printed = "";

child.on("exit", () => end("npm start ended by itself."));
child.stdout.on("data", async (data) => {
  process.stdout.write(data);
  printed += data;
  const url = /http:\/\/\S+\/twtxt\.txt/.exec(printed)?.[0];
  if (!url) return;
  child.stdout.removeAllListeners("data");
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  const feed = await response.text();
  const twts = feed.split("\n").filter((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t./.test(line)).length;
  const isFeed = response.status === 200 && feed.startsWith("# nick = ") && twts > 0;
  end(
    isFeed ? null : `${url} answers ${response.status} with ${feed.length} characters and ${twts} twts.`,
    `${url} serves ${twts} twts.`,
  );
});

function end(fault, success) {
  clearTimeout(giveUp);
  child.removeAllListeners("exit");
  process.kill(-child.pid, "SIGTERM");
  console.log(fault ?? success);
  process.exit(fault ? 1 : 0);
}
