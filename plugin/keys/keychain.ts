// plugin/keys/keychain.ts: the system keychain, where there is one.

/** Keeps one text per address. Each method rejects where the system has no keychain that works, or it stays locked. */
export interface Keychain {
  /** @returns `null` where there is none */
  read(address: string): Promise<string | null>;
  write(address: string, secret: string): Promise<void>;
  /** All addresses that have a text. */
  addresses(): Promise<string[]>;
}

const SERVICE = "eleventy-twtxt";

/** The system keychain, by a package that need not be installed and is loaded when it is asked. */
export function systemKeychain(): Keychain {
  return {
    read: async (address) => (await (await entry(address)).getPassword()) ?? null,
    write: async (address, secret) => (await entry(address)).setPassword(secret),
    addresses: async () => {
      const { findCredentialsAsync } = await keyring();
      return (await findCredentialsAsync(SERVICE)).map(({ account }) => account);
    },
  };
}

async function entry(address: string) {
  const { AsyncEntry } = await keyring();
  // Without this, a Linux without a keychain falls back to the kernel's key ring, which forgets all at a restart.
  return new AsyncEntry(SERVICE, address, { linux: { store: "secret-service" } });
}

async function keyring() {
  try {
    return await import("@napi-rs/keyring");
  } catch (cause) {
    throw new Error("the package @napi-rs/keyring is not installed, or not for this system", { cause });
  }
}
