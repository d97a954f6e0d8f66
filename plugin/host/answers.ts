// plugin/host/answers.ts: wires the mails with which readers are told of answers.
import type { JobRun } from "../clock.js";
import { coalesce } from "../concurrency.js";
import { DailyShares } from "../http/daily-shares.js";
import { answerEndpoints } from "../mentions/answers/answer-endpoints.js";
import { AnswerReaders, MAX_CONFIRMATIONS, type MailState } from "../mentions/answers/readers.js";
import { type MailContext, tellReaders } from "../mentions/answers/tell-readers.js";
import { sendToReader } from "../mentions/inform/mail.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import { chooseAnswerWords } from "../options/answer-translations.js";
import { chooseLanguage } from "../options/translations.js";
import { readValue, type ServiceOptions, SMTP_URL } from "./service-options.js";
import { attempt } from "./work.js";

export function openReaders({ store, now }: Pick<ServiceOptions, "store" | "now">) {
  const shares = new DailyShares({ store, now, limits: { messages: MAX_CONFIRMATIONS }, root: "answers" });
  return { shares, readers: new AnswerReaders({ store, now, shares }) };
}

/** The addresses of readers, their endpoints, and the job that sends their mails. */
export function answerServices(options: ServiceOptions, received: ReceivedMentions) {
  const { settings, pages, store, now, authority, environment, isLive, log, background } = options;
  const { readers, shares } = openReaders(options);
  const words = chooseAnswerWords(settings.lang);
  const context: MailContext = {
    words,
    host: new URL(settings.url).host,
    links: settings.urls.answers,
    contactPage: settings.inbox?.contactPage ?? settings.url,
  };
  const url = readValue(environment, SMTP_URL);
  const author = readValue(environment, "TWTXT_MAIL_TO");
  const tell = async (isOver: () => boolean) => {
    if (!isLive || url === undefined) return;
    const view = await received.journal.read();
    const send = (mail: Parameters<typeof sendToReader>[2]) => sendToReader(url, author, mail);
    await tellReaders({ readers, view, nick: settings.nick, pages, context, send, log, isOver });
  };
  // One after the other, since all write the same value.
  const tellSoon = coalesce(() => tell(() => false));
  const onAdded = () => {
    background(attempt("Sending a mail to a reader", tellSoon, log));
  };
  const hasMessages = settings.inbox?.guests?.mail ?? false;
  return {
    /** For the endpoints of comments, which have stored the comment before. */
    comments: {
      readState: (guest: string) => readers.readState(guest),
      removeComment: (guest: string, id: string) => readers.removeComment(guest, id),
      async add(wish: Parameters<AnswerReaders["add"]>[0], network: string): Promise<MailState> {
        if (url === undefined) {
          log("A reader asks for mail about answers: set TWTXT_SMTP_URL.", { level: "warn" });
          return null;
        }
        await attempt("Storing a reader's address", () => readers.add(wish, { network, spend: async () => {} }), log);
        onAdded();
        return "waiting";
      },
    },
    handlers: answerEndpoints({
      ...{ readers, canSend: url !== undefined, hasMessages, words, authority, store, now, onAdded },
      ...{ feedUrl: settings.feedUrl, lang: chooseLanguage(settings.lang ?? "en") },
    }),
    /** Deletes what is no longer needed, and sends the mails that are due. */
    async run({ isOver, steadySince }: JobRun): Promise<void> {
      const view = await received.journal.read();
      const isThere = (id: string) => ["shown", "held"].includes(view.get(id)?.state ?? "");
      await readers.prune(isThere, steadySince);
      await shares.sweep(await store.keys("answers"), isOver);
      await tell(isOver);
    },
  };
}
