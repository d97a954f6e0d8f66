// test/helpers/telephone.ts: a webhook for notifications, such as those to a phone.
import { loopbackServer } from "./loopback.js";

export interface Telephone {
  /** The value for `TWTXT_WEBHOOK_URL`. */
  url: string;
  /** The texts of the received notifications, in order. */
  notes: string[];
  /** Delays all responses from now on until the returned function is called. */
  hold(): () => void;
}

export async function telephone(): Promise<Telephone> {
  const notes: string[] = [];
  let gate = Promise.resolve();
  const { url } = await loopbackServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    notes.push(text);
    await gate;
    response.end();
  });
  return {
    url: `${url}/my-topic`,
    notes,
    hold() {
      let open = () => {};
      gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      return () => open();
    },
  };
}
