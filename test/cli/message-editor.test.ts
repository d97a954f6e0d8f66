import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Correspondent, correspondents } from "./correspondent.js";
import { describeWithoutKeychain } from "./machine.js";

const HINT = "Write, save and close the editor to send; an empty text sends nothing.";

const EDITOR = { VISUAL: "", EDITOR: "ed" };

/** Runs `message send ARGS` as Alice, who types this text in her editor. */
async function write(alice: Correspondent, args: string[], text: string | Buffer, exitCode = 0) {
  const opened: string[] = [];
  const outcome = await alice.runOnTerminal(["message", "send", ...args], {
    environment: { ...alice.environment, ...EDITOR },
    open: async (editor, file) => {
      opened.push(editor);
      expect(readFileSync(file, "utf8")).toBe("");
      appendFileSync(file, text);
      return exitCode;
    },
  });
  return { ...outcome, opened };
}

function drafts({ machine }: Correspondent): string[] {
  const folder = join(machine.folder, "data/eleventy-twtxt/drafts");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

describeWithoutKeychain("a message from an editor", () => {
  it("is sent when the editor exits, and its file is deleted", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address], "\nHello Bob,\n\n  this is it.\n\n");
    expect(sent).toMatchObject({ exitCode: 0, opened: ["ed"], stderr: `${HINT}\n1 delivered.` });
    expect(await bob.messageJson("list")).toMatchObject([{ text: "Hello Bob,\n\n  this is it." }]);
    expect(drafts(alice)).toEqual([]);
    expect(bob.files.filter((path) => path.startsWith("/.well-known/"))).toHaveLength(1);
  });

  it("1: is not sent if it is empty", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address], " \n");
    expect(sent).toMatchObject({ exitCode: 1, stdout: "", stderr: `${HINT}\nThe message is empty, and was not sent.` });
    expect([drafts(alice), bob.requests]).toEqual([[], []]);
  });

  it("1: stays in a file that only its author can read if the editor fails", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address], "half a", 3);
    const [file = ""] = drafts(alice);
    expect(sent).toMatchObject({ exitCode: 1, stdout: "" });
    expect(sent.stderr).toContain("The editor exited with code 3. Nothing was sent.");
    expect(sent.stderr).toContain(`type: eleventy-twtxt message send ${bob.address} < ${file}`);
    expect(readFileSync(file, "utf8")).toBe("half a");
    expect(bob.requests).toEqual([]);
  });

  it("1: stays in a file if it is too long, and can be sent from it after it is shortened", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address], "long ".repeat(20_000));
    const [file = ""] = drafts(alice);
    expect(sent).toMatchObject({ exitCode: 1, stdout: "" });
    expect(sent.stderr).toMatch(/The text has 99999 bytes[^\n]* At most|For 1 recipients, the limit is \d+ bytes\./);
    expect(sent.stderr).toContain(`Your text is in ${file}.`);
    expect(readFileSync(file, "utf8")).toHaveLength(100_000);

    writeFileSync(file, "short");
    await alice.run(["message", "send", bob.address], readFileSync(file, "utf8"));
    expect(await bob.messageJson("list")).toMatchObject([{ text: "short" }]);
  });

  it("1: stays in a file if it is not text", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address], Buffer.from([0x66, 0xff]));
    expect(sent).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("The text is not in UTF-8.") });
    expect(drafts(alice)).toHaveLength(1);
  });

  it("1: opens no editor if a recipient is not found", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await write(alice, [bob.address, `nobody@${bob.host}`], "hello");
    expect(sent).toMatchObject({ exitCode: 1, opened: [], stderr: expect.stringContaining("publishes no key") });
    expect(drafts(alice)).toEqual([]);
  });

  it("2: requires an editor", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await alice.runOnTerminal(["message", "send", bob.address]);
    expect(sent).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("such as EDITOR=nano.") });
  });
});
