// test/interop/networks/pds.mjs PORT FOLDER: Bluesky's own server on this machine, with an account of alice. Prints it as JSON.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { envToCfg, envToSecrets, PDS } from "@atproto/pds";
import { formatDidDoc, opToData } from "@did-plc/lib";
import Database from "better-sqlite3";

const [port = "", folder = ""] = process.argv.slice(2);
const HANDLE = "alice.test";
const secret = () => randomBytes(32).toString("hex");

// libsql returns bytes as an ArrayBuffer, better-sqlite3 as a Buffer.
const statements = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
const { all } = statements;
statements.all = function (...values) {
  const toBuffer = (value) => (value instanceof ArrayBuffer ? Buffer.from(value) : value);
  const toRow = (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toBuffer(value)]));
  return all.apply(this, values).map(toRow);
};

const blobs = join(folder, "blobs");
mkdirSync(blobs);
const environment = {
  ...{ devMode: true, logEnabled: false, disableSsrfProtection: true, inviteRequired: false },
  ...{ hostname: "localhost", port: Number(port), serviceHandleDomains: [".test"] },
  ...{ dataDirectory: folder, blobstoreDiskLocation: blobs, didPlcUrl: await serveDirectory() },
  ...{ jwtSecret: secret(), adminPassword: secret(), plcRotationKeyK256PrivateKeyHex: secret() },
};
await (await PDS.create(envToCfg(environment), envToSecrets(environment))).start();
const account = { handle: HANDLE, email: "alice@alice.test", password: secret() };
const { did, accessJwt } = await call("com.atproto.server.createAccount", account);
const { password } = await call("com.atproto.server.createAppPassword", { name: "site" }, accessJwt);
console.log(JSON.stringify({ did, handle: HANDLE, password }));

/** The directory of accounts (PLC), which keeps the last operation of each. @returns its URL */
async function serveDirectory() {
  const operations = new Map();
  const server = createServer(async (request, response) => {
    const [, did = ""] = decodeURIComponent(request.url ?? "").split("/");
    if (request.method === "POST") {
      operations.set(did, await json(request));
      return response.end();
    }
    const operation = operations.get(did);
    if (!operation) return response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const document = formatDidDoc(opToData(did, operation));
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

async function call(method, body, token) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`http://localhost:${port}/xrpc/${method}`, request);
  if (!response.ok) throw new Error(`${method}: ${await response.text()}`);
  return response.json();
}
