import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ListedStore } from "../../plugin/store/folder-listings.js";

const id = (digit: string) => digit.repeat(64);
const key = (digit: string, folder = "messages") => `inbox/alice/${folder}/${id(digit)}-10`;

class Listings extends ListedStore {
  readonly #list: (prefix: string) => Promise<string[]>;

  constructor(list: (prefix: string) => Promise<string[]>) {
    super();
    this.#list = list;
  }

  protected listKeys(prefix: string): Promise<string[]> {
    return this.#list(prefix);
  }

  override note(key: string, change: "written" | "deleted"): void {
    super.note(key, change);
  }
}

/** A bucket with these keys. */
function bucket(...first: string[]) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const keys = new Set(first);
  const prefixes: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const listings = new Listings(async (prefix) => {
    prefixes.push(prefix);
    const listed = [...keys].filter((one) => one.startsWith(prefix));
    await held;
    return listed;
  });
  const hold = () => {
    let release = () => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  };
  return { keys, prefixes, listings, hold };
}

const MESSAGES = "inbox/alice/messages/";

describe("surveys of folders in a bucket", () => {
  it("cost one listing for all folders of an inbox in two seconds, also at the same time", async () => {
    const { listings, prefixes } = bucket(key("a"), key("b", "deleted"));
    const surveys = await Promise.all([listings.survey(MESSAGES), listings.survey("inbox/alice/deleted/", id("b"))]);
    expect(surveys.map(({ count }) => count)).toEqual([1, 1]);
    vi.advanceTimersByTime(1999);
    expect(await listings.survey("inbox/alice/senders/2026-11-20/x/")).toMatchObject({ count: 0 });
    expect(prefixes).toEqual(["inbox/alice/"]);
    await listings.survey("inbox/carol/messages/");
    expect(prefixes).toEqual(["inbox/alice/", "inbox/carol/"]);
  });

  it("show changes by other processes after two seconds", async () => {
    const { listings, keys } = bucket(key("a"));
    await listings.survey(MESSAGES);
    keys.clear();
    keys.add(key("b")).add(key("c"));
    expect(await listings.survey(MESSAGES)).toMatchObject({ count: 1, last: key("a") });
    vi.advanceTimersByTime(2000);
    expect(await listings.survey(MESSAGES)).toMatchObject({ count: 2, last: key("c") });
  });

  it("miss no change that is made during a listing", async () => {
    const { listings, keys, hold } = bucket(key("a"));
    const release = hold();
    const surveying = listings.survey(MESSAGES);
    listings.note(key("a"), "deleted");
    listings.note(key("b"), "written");
    release();
    expect(await surveying).toMatchObject({ count: 1, last: key("b") });
    expect([...keys]).toEqual([key("a")]);
  });

  it("list the keys again after a failure", async () => {
    let failures = 1;
    const listings = new Listings(async () => {
      failures -= 1;
      if (failures === 0) throw new Error("down");
      return [key("a")];
    });
    await expect(listings.survey(MESSAGES)).rejects.toThrow("down");
    expect(await listings.survey(MESSAGES)).toMatchObject({ count: 1 });
  });

  it("share one listing with all listings of a piece of work, which shows its own changes", async () => {
    const { listings, prefixes } = bucket(key("a"), "nonces/1");
    await listings.shareListing(async () => {
      expect(await listings.keys("nonces/")).toEqual(["nonces/1"]);
      listings.note("nonces/1", "deleted");
      listings.note("nonces/2", "written");
      expect(await listings.keys("nonces/")).toEqual(["nonces/2"]);
      expect(await listings.keys("inbox")).toEqual([key("a")]);
    });
    expect(prefixes).toEqual([""]);
    await listings.keys("nonces/");
    expect(prefixes).toEqual(["", "nonces/"]);
  });
});
