// test/interop/saltpack/peers.ts: three implementations of saltpack behind one interface.
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type DesigncryptResult,
  dearmorAndDesigncrypt,
  designcrypt,
  signcrypt,
  signcryptAndArmor,
} from "@samuelthomas2774/saltpack";
import { armor, dearmor, open, seal } from "../../../plugin/messages/index.js";
import type { Reference } from "./reference.js";

export interface Identity {
  seed: Uint8Array;
  publicKey: Uint8Array;
  /** The seed, then the public key. */
  secretKey: Uint8Array;
}

/** Messages are bytes, both armored and binary ones. */
export interface Peer {
  name: string;
  seal(work: {
    plaintext: Uint8Array;
    sender: Identity;
    recipients: Pick<Identity, "publicKey">[];
    isArmored: boolean;
  }): Promise<Uint8Array>;
  open(work: {
    message: Uint8Array;
    opener: Identity;
    isArmored: boolean;
  }): Promise<{ plaintext: Uint8Array; sender: Uint8Array }>;
}

export function identityOf(seed: Uint8Array): Identity {
  const publicKey = ed25519.getPublicKey(seed);
  return { seed, publicKey, secretKey: Uint8Array.of(...seed, ...publicKey) };
}

export const ours: Peer = {
  name: "ours",
  async seal({ plaintext, sender, recipients, isArmored }) {
    const options = { sender: sender.secretKey, recipients: recipients.map(({ publicKey }) => publicKey) };
    return isArmored ? utf8(seal(plaintext, { ...options, armor: true })) : seal(plaintext, options);
  },
  async open({ message, opener, isArmored }) {
    return open(isArmored ? text(message) : message, { key: opener.secretKey });
  },
};

export function goPeer(reference: Reference): Peer {
  return {
    name: "go",
    async seal({ plaintext, sender, recipients, isArmored }) {
      const { output } = await reference.ask({
        do: "seal",
        sender: sender.seed,
        recipients: recipients.map(({ publicKey }) => publicKey),
        input: plaintext,
        armored: isArmored,
      });
      if (isArmored && armor(dearmor(output)) !== text(output)) throw new Error("our armor has a different layout");
      return output;
    },
    async open({ message, opener, isArmored }) {
      const question = { do: "open", key: opener.seed, input: message, armored: isArmored } as const;
      const { output, sender } = await reference.ask(question);
      return { plaintext: output, sender };
    },
  };
}

export const npmPeer: Peer = {
  name: "npm",
  async seal({ plaintext, sender, recipients, isArmored }) {
    const to = recipients.map(({ publicKey }) => ed25519.utils.toMontgomery(publicKey));
    return isArmored ? utf8(await signcryptAndArmor(plaintext, sender, to)) : signcrypt(plaintext, sender, to);
  },
  async open({ message, opener, isArmored }) {
    const key = {
      publicKey: ed25519.utils.toMontgomery(opener.publicKey),
      secretKey: ed25519.utils.toMontgomerySecret(opener.seed),
    };
    // The package's types are wrong for armored messages.
    const result: DesigncryptResult = isArmored
      ? ((await dearmorAndDesigncrypt(text(message), key)) as DesigncryptResult)
      : await designcrypt(message, key);
    return { plaintext: result, sender: result.sender_public_key ?? new Uint8Array() };
  },
};

function utf8(written: string): Uint8Array {
  return new TextEncoder().encode(written);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
