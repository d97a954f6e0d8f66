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
  let loaded: Promise<T> | null = null;
  const loadOnce = () => {
    loaded ??= load().catch((error) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
  loaders.add(loadOnce);
  return loadOnce;
}

/** Loads the modules of all calls of {@link later}, including those in modules that are loaded by this. */
export async function loadAll(): Promise<void> {
  for (const load of loaders) await load();
}
