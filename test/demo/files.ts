// test/demo/files.ts: Alice stores files on her blog: a public picture, a recipe that she shares for a while, and a letter to Bob.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Blog, blog } from "./blog.js";
import { addressOf, fileOf, makeKey, storedBy } from "./letters.js";
import { check, show, tell } from "./telling.js";

/** A picture of one pixel. */
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const RECIPE = "Quinces, sugar, and a whole afternoon.";
const SECRET = "The spare key lies under the third pot.";

/** The headers of a browser's request for a picture. */
const BROWSER = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  accept: "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
};

/** The chapter about blobs. Requires that both blogs are running and have addresses. @param key - the name of Alice's current key */
export async function files(alice: Blog, bob: Blog, key: string): Promise<void> {
  const hosts = [alice, bob].flatMap(({ url }) => ["--allow-private-host", new URL(url).host]);
  const blobs = (who: Blog, name: string, ...args: string[]) =>
    who.type(["eleventy-twtxt", "blob", ...args, "--identity", fileOf(who, name), ...hosts]);
  const seen = (url: string) => fetch(url, { headers: BROWSER, signal: AbortSignal.timeout(20_000) });

  tell("Alice has a picture for her post. She uploads it to her blog, and pastes the printed Markdown.");
  writeFileSync(join(alice.folder, "quinces.png"), PICTURE);
  const markdown = (await blobs(alice, key, "put", "quinces.png", "--public", "--markdown")).trim();
  writeFileSync(
    join(alice.folder, "posts/picture.md"),
    `---\ntitle: The second quinces\ndate: 2026-10-05T07:12:30Z\n---\nHere they are:\n\n${markdown}\n`,
  );
  await alice.build();
  const page = readFileSync(join(alice.folder, "_site/posts/picture/index.html"), "utf8");
  const [, picture = ""] = /<img src="([^"]+)"/.exec(page) ?? [];
  show(`${alice.url}/posts/picture/`, /<img[^>]*>/.exec(page)?.[0] ?? "");

  tell("Any browser can show it.");
  const shown = await seen(picture);
  check(shown.status === 200 && shown.headers.get("content-type") === "image/png", `${picture} is a picture`);
  check(Buffer.from(await shown.arrayBuffer()).equals(PICTURE), "its bytes are unchanged");

  tell("She stores a private recipe, shares it for a while, and makes it private again.");
  writeFileSync(join(alice.folder, "recipe.txt"), `${RECIPE}\n`);
  await blobs(alice, key, "put", "recipe.txt", "--key", "recipe");
  await blobs(alice, key, "list");
  const recipe = (await blobs(alice, key, "share", "recipe")).trim();
  check((await (await seen(recipe)).text()).includes(RECIPE), "everyone can read the recipe");
  await blobs(alice, key, "set", "recipe", "--private");
  check((await seen(recipe)).status === 404, "it is private at once");

  tell("She seals a letter to Bob on her own machine.");
  writeFileSync(join(alice.folder, "letter.txt"), `${SECRET}\n`);
  const letter = (await blobs(alice, key, "put", "letter.txt", "--public", "--encrypt", "--to", addressOf(bob))).trim();
  const sealed = Buffer.from(await (await seen(letter)).arrayBuffer());
  check(sealed.length > 0 && !sealed.includes(SECRET), "the public file is encrypted");
  check(!storedBy(alice).some((text) => text.includes(SECRET)), "no file on her host contains its text");

  tell("Bob opens it.");
  await blobs(bob, "first", "get", letter, "-o", "from-alice.txt");
  check(readFileSync(join(bob.folder, "from-alice.txt"), "utf8").includes(SECRET), "he reads her letter");

  tell("Mallory cannot open it.");
  const mallory = blog("mallory", 0, "node", {});
  await makeKey(mallory, "own", "mallory@mallory.example");
  await blobs(mallory, "own", "get", letter, "-o", "from-alice.txt");
  check(readFileSync(join(mallory.folder, "from-alice.txt")).equals(sealed), "Mallory gets only the sealed file");

  tell("Alice verifies that her host has not changed any file.");
  await blobs(alice, key, "verify");
}
