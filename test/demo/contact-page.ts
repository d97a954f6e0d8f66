// test/demo/contact-page.ts: a reader without an address writes to Alice from her contact page, and reads her reply there.
import type { Blog } from "./blog.js";
import { ContactReader } from "./contact-reader.js";
import { addressOf, fileOf, storedBy } from "./letters.js";
import { check, show, tell } from "./telling.js";

const NAME = "Dana";
const QUESTION = "Do you sell quinces?";
const ANSWER = "From October on. Come by any morning.";

/** The chapter about guests. Requires that Alice's blog is running and has an address. @param key - the name of her current key */
export async function contactPage(alice: Blog, key: string): Promise<void> {
  const url = `${alice.url}/contact/`;
  tell(
    "A reader of Alice's blog has no address. The contact page does not require one: the reader types a message and a name.",
  );
  const reader = await ContactReader.open(url, addressOf(alice));
  if (reader === null) return;
  try {
    const sealed = await reader.write(QUESTION, NAME);
    show(url, await reader.conversation());
    await answerGuest(alice, key);

    tell("The reader reads the reply on the same page, which is still open.");
    const answers = await reader.answers(1);
    show(url, await reader.conversation());
    check(answers[0]?.text === ANSWER && answers[0].note === null, "the page shows Alice's reply as hers");
    await reader.reload();
    check((await reader.answers(1))[0]?.text === ANSWER, "the reply is still there after a reload");

    tell("Her host stores both messages, but can read neither.");
    const stored = storedBy(alice);
    check(
      stored.some((text) => text.includes(sealed)),
      "the host stores the message that the browser sealed",
    );
    const isReadable = stored.some((text) => [NAME, QUESTION, ANSWER].some((words) => text.includes(words)));
    check(!isReadable, "no file on the host contains the texts or the name");
    await forget(reader);
  } finally {
    await reader.close();
  }
}

async function answerGuest(alice: Blog, key: string): Promise<void> {
  const options = ["--identity", fileOf(alice, key), "--allow-private-host", new URL(alice.url).host];
  const message = (...args: string[]) => alice.type(["eleventy-twtxt", "message", ...args, ...options]);

  tell("Alice's list of messages shows a guest with the name that the reader typed.");
  const list = await message("list");
  check(/guest kex1.* "Dana"/.test(list), "the list shows a guest with the name Dana");
  const messages = Array.from(Object(await alice.ask(["message", "list", ...options]))).map(Object);
  const question = messages.find(({ guest }) => guest === true);
  check(question?.text === QUESTION && question.name === NAME, "she reads the reader's message");

  tell("She answers.");
  await message("reply", question.id, ANSWER);
}

async function forget(reader: ContactReader): Promise<void> {
  tell('The reader presses "Forget this conversation".');
  check((await reader.stored()).length > 0, "until then, the browser stores the conversation");
  show("the page says", await reader.forget());
  check((await reader.stored()).length === 0, "nothing is left in the browser's storage");
}
