// build/start.mjs: `npm start`: builds the example from source and serves it, with everything that a Node host does.
import { spawn } from "node:child_process";
import { createServer } from "node:net";

const FIRST_PORT = 8080;
const LAST_PORT = 8099;

const port = await freePort();
const environment = { ...process.env, SITE_URL: `http://localhost:${port}` };

await run(["node_modules/@11ty/eleventy/cmd.cjs", "--config=.eleventy.ts"]);
await run(["plugin/cli/main.ts", "serve", "--host", "localhost", "--port", String(port)]);

/** By tsx, which reads TypeScript. Ctrl-C reaches the server too, which ends in order. */
function run(args) {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], { stdio: "inherit", env: environment });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      if (code === 0) resolve();
      else process.exit(code ?? 1);
    });
  });
}

async function freePort() {
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) if (await isFree(port)) return port;
  console.error(`No port from ${FIRST_PORT} to ${LAST_PORT} is free.`);
  process.exit(1);
}

function isFree(port) {
  const server = createServer();
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    server.listen(port, "localhost", () => server.close(() => resolve(true)));
  });
}
