// test/helpers/hooks.ts: hooks of helper modules, for every test file that a worker runs.
//
// A worker imports a module once and runs many test files, and Vitest ties a hook to the file that is running. So helpers
// register their hooks here, and setup.ts, which Vitest runs for each file, runs them all.

type Hook = () => unknown;

const afterEachHooks: Hook[] = [];
const afterAllHooks: Hook[] = [];

/** Runs a hook after each test of every file. */
export function afterEach(hook: Hook): void {
  afterEachHooks.push(hook);
}

/** Runs a hook after the last test of every file. */
export function afterAll(hook: Hook): void {
  afterAllHooks.push(hook);
}

/** The last registered hook comes first. */
export async function runAfterEachHooks(): Promise<void> {
  for (const hook of afterEachHooks.toReversed()) await hook();
}

/** The last registered hook comes first. */
export async function runAfterAllHooks(): Promise<void> {
  for (const hook of afterAllHooks.toReversed()) await hook();
}
