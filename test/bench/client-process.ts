// test/bench/client-process.ts: `eleventy-twtxt client` in a child process, opened in a browser's place.
import { spawn } from "node:child_process";
import { get } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endOnStop } from "./child.js";

export interface Client {
  pid: number;
  get(path: string): Promise<{ status: number; text: string }>;
  end(): void;
}

/** @param folder - of a site, with its author's data in `data/` */
export async function startClient(entry: string, folder: string, stop: AbortSignal): Promise<Client> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("cli/main.js", entry)), "client", "--no-open"], {
    cwd: folder,
    env: { ...process.env, XDG_DATA_HOME: join(folder, "data") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const end = endOnStop(stop, () => void child.kill("SIGKILL"));
  const link = await new Promise<string>((resolve, reject) => {
    child.on("exit", () => reject(new Error("The client ended by itself.")));
    child.stdout.on("data", (data) => {
      const [found] = /http:\/\/\S+/.exec(String(data)) ?? [];
      if (found) resolve(found);
    });
  });
  const { cookie } = await ask(link, "");
  return { pid: Number(child.pid), end, get: (path) => ask(new URL(path, link).href, cookie) };
}

/** `fetch` hides cookies. */
function ask(url: string, cookie: string): Promise<{ cookie: string; status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { cookie } }, (response) => {
      const [set = ""] = response.headers["set-cookie"] ?? [];
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ cookie: set.split(";")[0] ?? "", status: response.statusCode ?? 0, text }));
    }).on("error", reject);
  });
}
