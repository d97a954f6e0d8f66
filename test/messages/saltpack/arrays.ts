import { vi } from "vitest";

/**
 * Collects every array of bytes that is made from now on, by length or by copy, until `vi.unstubAllGlobals`. Views of
 * other arrays are not among them, and what the runtime makes itself is not.
 */
export function arraysMade(): Uint8Array[] {
  const made: Uint8Array[] = [];
  const Watched: Uint8ArrayConstructor = new Proxy(Uint8Array, {
    construct(target, args: [unknown], newTarget): Uint8Array {
      const array: Uint8Array = Reflect.construct(target, args, newTarget === Watched ? target : newTarget);
      if (!(args[0] instanceof ArrayBuffer)) made.push(array);
      return array;
    },
  });
  vi.stubGlobal("Uint8Array", Watched);
  return made;
}
