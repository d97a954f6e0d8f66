import { vi } from "vitest";

/**
 * Records each `Uint8Array` created by length or by copy, until `vi.unstubAllGlobals`. Views of other arrays and arrays
 * created by the runtime itself are not recorded.
 */
export function recordArrays(): Uint8Array[] {
  const recorded: Uint8Array[] = [];
  const Watched: Uint8ArrayConstructor = new Proxy(Uint8Array, {
    construct(target, args: [unknown], newTarget): Uint8Array {
      const array: Uint8Array = Reflect.construct(target, args, newTarget === Watched ? target : newTarget);
      if (!(args[0] instanceof ArrayBuffer)) recorded.push(array);
      return array;
    },
  });
  vi.stubGlobal("Uint8Array", Watched);
  return recorded;
}
