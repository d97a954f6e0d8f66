// plugin/keys/keychain.ts: system keychain.

/** Stores one text per address. Each method rejects if the system has no working keychain, or it is locked. */
export interface Keychain {
  /** @returns `null` if there is none */
  read(address: string): Promise<string | null>;
  write(address: string, secret: string): Promise<void>;
  remove(address: string): Promise<void>;
  /** All addresses that have a text. */
  addresses(): Promise<string[]>;
}

const SERVICE = "eleventy-twtxt";

/** The system keychain, through an optional package that is loaded on first use. */
export function systemKeychain(): Keychain {
  return {
    read: (address) => plainly(async () => (await (await entry(address)).getPassword()) ?? null),
    write: (address, secret) => plainly(async () => (await entry(address)).setPassword(secret)),
    remove: (address) => plainly(async () => void (await (await entry(address)).deletePassword())),
    addresses: () =>
      plainly(async () => {
        const { findCredentialsAsync } = await keyring();
        return (await findCredentialsAsync(SERVICE)).map(({ account }) => account);
      }),
  };
}

/** Turns the system's error messages into plain ones. */
async function plainly<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    const said = String(Object(cause).message ?? cause).replace(/^Platform failure: /, "");
    const isSilent = /D-?Bus error|zbus error|No DBus session/i.test(said);
    throw new Error(isSilent ? "no secret service answers on this machine" : said, { cause });
  }
}

async function entry(address: string) {
  const { AsyncEntry } = await keyring();
  // Without this, Linux systems without a keychain fall back to the kernel's key ring, which is lost at a restart.
  return new AsyncEntry(SERVICE, address, { linux: { store: "secret-service" } });
}

async function keyring() {
  try {
    return await import("@napi-rs/keyring");
  } catch (cause) {
    throw new Error("the package @napi-rs/keyring is not installed, or not for this system", { cause });
  }
}
