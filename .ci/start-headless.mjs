// Runs `npm start`, waits until it is ready, checks its pages, and stops it with a signal.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const TIMEOUT_MS = 120_000;

const begun = Date.now();
const child = spawn("npm", ["start"], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
const ended = new Promise((resolve) => child.on("close", resolve));
let printed = "";
for (const stream of [child.stdout, child.stderr]) {
  stream.on("data", (data) => {
    process.stdout.write(data);
    printed += data;
  });
}

const faults = [];
try {
  await isUp();
  console.log(`\nReady after ${((Date.now() - begun) / 1000).toFixed(1)} s.`);
  await look();
} catch (error) {
  faults.push(error.message);
}
if (child.exitCode === null) process.kill(-child.pid, "SIGTERM");
await ended;
const [url] = printed.match(/http:\/\/localhost:\d+/) ?? [];
check((await statusOf(`${url}/`)) === null, "no page is served after the end");
check(!existsSync(".cache/start"), ".cache/start is removed");
for (const fault of faults) console.error(`Check failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

async function isUp() {
  const end = Date.now() + TIMEOUT_MS;
  while (!/^Both are in .*Ctrl-C/m.test(printed)) {
    if (child.exitCode !== null) throw new Error("npm start keeps running");
    if (Date.now() > end) throw new Error("npm start is ready within two minutes");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function look() {
  const urlOf = (name) => new RegExp(`^ *${name} +(http:\\S+?),?(?: |$)`, "m").exec(printed)?.[1];
  const feed = await textOf(urlOf("feed"));
  check(
    feed.split("\n").filter((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t./.test(line)).length > 5,
    "the feed has twts",
  );
  const mentions = await textOf(urlOf("mentions"));
  check(
    mentions.match(/<li class="h-cite/g)?.length === 3,
    "the page of mentions shows three of them without JavaScript",
  );
  const conversation = await textOf(urlOf("conversation"));
  check(/u-in-reply-to[\s\S]*class="p-content"/.test(conversation), "the note is a reply, and has a reply");
  const thread = await textOf(urlOf("its start"));
  check(
    thread.match(/<li class="h-cite u-comment/g)?.length === 3,
    "the start of the conversation shows three replies",
  );
  const [, picture] = /<img src="(http[^"]+\/shared\/[^"]+)"/.exec(conversation) ?? [];
  check((await statusOf(picture)) === 200, "the picture of the note is served as a blob");
  check((await textOf(urlOf("contact"))).includes("alice@localhost:"), "the contact page has the address");
  check(await hasClientScript(urlOf("client")), "the link of the client opens it, with its script");
  await fetch(new URL("/", urlOf("client")), { signal: AbortSignal.timeout(10_000) });
  await eventually(
    () => printed.match(/\/open\?token=/g).length === 2,
    "another browser that asks for the client gets a link",
  );
  check(!printed.includes("ECONNREFUSED"), "no step fails to connect to a server");
}

function check(isSo, what) {
  if (!isSo) faults.push(what);
}

async function eventually(isSo, what) {
  for (let tries = 0; tries < 50 && !isSo(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  check(isSo(), what);
}

async function hasClientScript(link) {
  const opened = await fetch(link, { redirect: "manual", signal: AbortSignal.timeout(10_000) });
  const cookie = opened.headers
    .getSetCookie()
    .map((text) => text.split(";")[0])
    .join("; ");
  const script = await fetch(new URL("/client.js", link), { headers: { cookie }, signal: AbortSignal.timeout(10_000) });
  return script.status === 200;
}

async function textOf(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  return response.text();
}

async function statusOf(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(10_000) })).status;
  } catch {
    return null;
  }
}
