// test/helpers/mailbox.ts: a real SMTP server on loopback, and the mail that it received.
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterEach } from "./hooks.js";

const servers: SMTPServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise<void>((resolve) => server.close(resolve))));
});

export interface ReceivedMail {
  /** Unfolded values by lower-cased name. */
  headers: Record<string, string>;
  /** The names of all headers, with duplicates. */
  headerNames: string[];
  text: string;
  from: string;
  to: string[];
}

export interface Mailbox {
  host: string;
  port: number;
  mails: ReceivedMail[];
  /** The server's refusal of all mails from now on; `null` accepts them. */
  refusal: string | null;
  /** Closes the connection after a mail is received, without a response. */
  isSilent: boolean;
}

/** Starts a mail server; by default, without users and encryption. */
export async function mailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const box: Mailbox = { host: "127.0.0.1", port: 0, mails: [], refusal: null, isSilent: false };
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    logger: false,
    disableReverseLookup: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (box.refusal !== null) return done(new Error(box.refusal));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom ? mailFrom.address : "";
        box.mails.push({ ...parsed(Buffer.concat(chunks).toString()), from, to: rcptTo.map(({ address }) => address) });
        if (box.isSilent) for (const connection of server.connections) connection.close();
        return done();
      });
    },
    ...options,
  });
  greetAtOnce(server);
  server.on("error", () => {});
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, box.host, () => resolve()));
  box.port = (server.server.address() as AddressInfo).port;
  return box;
}

/** The methods of a connection that are not in its types. */
interface Greeter {
  init(): void;
  _setListeners(then: () => void): void;
  connectionReady(): void;
}

/** By itself, it waits for a tenth of a second, to refuse clients that talk too soon. */
function greetAtOnce({ connections }: SMTPServer): void {
  const add = connections.add.bind(connections);
  connections.add = (connection) => {
    const greeter = connection as unknown as Greeter;
    greeter.init = () => greeter._setListeners(() => greeter.connectionReady());
    return add(connection);
  };
}

function parsed(source: string): Pick<ReceivedMail, "headers" | "headerNames" | "text"> {
  const end = source.indexOf("\r\n\r\n");
  const fields = source
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()] as const);
  const headers = Object.fromEntries(fields);
  return {
    headers,
    headerNames: fields.map(([name]) => name),
    text: decoded(source.slice(end + 4), headers["content-transfer-encoding"]).replace(/\r\n/g, "\n"),
  };
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
