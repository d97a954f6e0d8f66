// plugin/later.ts: modules that are loaded when they are first needed, and all together before a server listens.

const loaders = new Set<() => Promise<unknown>>();

/**
 * A module that is loaded when it is first needed. Define it at the top of a file:
 * `const nodemailer = later(() => import("nodemailer"));`
 *
 * @param load - imports the module
 * @returns what `load` returned first. `import()` looks for the file again each time, even if the module is loaded, and fails
 *   if the file has been removed
 */
export function later<T>(load: () => Promise<T>): () => Promise<T> {
  const loadOnce = once(load);
  loaders.add(loadOnce);
  return loadOnce;
}

/** Makes a value at the first call and returns it at later ones. After a failure, the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}

/** Loads the modules of all calls of {@link later}, including those in modules that are loaded by this. */
export async function loadAll(): Promise<void> {
  for (const load of loaders) await load();
}
