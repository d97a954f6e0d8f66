// test/demo/mail.ts: a mail server on this machine that prints the mails that it receives.
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export interface MailServer {
  /** The value for `TWTXT_SMTP_URL`. */
  url: string;
  mails: string[];
  end(): Promise<void>;
}

export async function mailServer(): Promise<MailServer> {
  const mails: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, _session, done) {
      void text(stream).then((mail) => {
        mails.push(mail);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    end: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
