// test/helpers/small-web.ts: servers of gemini and gopher on this machine.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterEach } from "./hooks.js";

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

export interface SmallWebServer {
  /** `host:port` */
  host: string;
  port: number;
  /** Such as `gemini://127.0.0.1:40000`. */
  url: string;
  /** The request lines that it received. */
  requests: string[];
}

/** A certificate that signs itself, as most servers of gemini have. */
export function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-certificate-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const type = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=bob.example"];
  execFileSync("openssl", ["req", "-x509", ...type, "-keyout", key, "-out", cert, "-days", "30"], { stdio: "ignore" });
  const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  return made;
}

/** A response whose connection ends without the end of TLS, or with a reset, or stays open. */
export interface CutAnswer {
  text: string;
  end: "FIN" | "RST" | null;
}

type Answer = (line: string) => string | Buffer | CutAnswer;

/** @param answer - the response to a request line */
export function geminiServer(answer: Answer, certificate = selfSigned(), port = 0): Promise<SmallWebServer> {
  return started("gemini", answer, (take) => createTlsServer(certificate, take), port);
}

/** @param answer - the response to a selector */
export function gopherServer(answer: Answer): Promise<SmallWebServer> {
  return started("gopher", answer, createServer, 0);
}

async function started(
  protocol: string,
  answer: Answer,
  create: (take: (socket: Socket) => void) => Server,
  port: number,
): Promise<SmallWebServer> {
  const requests: string[] = [];
  const server = create((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const line = String(data).replace(/\r\n$/, "");
      requests.push(line);
      const answered = answer(line);
      if (typeof answered === "string" || Buffer.isBuffer(answered)) return socket.end(answered);
      const connection = [...sockets].find(({ remotePort }) => remotePort === socket.remotePort) ?? socket;
      const cut = () => (answered.end === "FIN" ? connection.destroy() : connection.resetAndDestroy());
      if (answered.end === null) return socket.write(answered.text);
      // The client has read the answer by then.
      return socket.write(answered.text, () => setTimeout(cut, 20));
    });
  });
  server.on("connection", (socket: Socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: used } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${used}`, port: used, url: `${protocol}://127.0.0.1:${used}`, requests };
}
