// test/demo/clock.mjs: for `node --import`: the clock of a program is an hour ahead while a file exists.
import { statSync } from "node:fs";

const HOUR_MS = 3600_000;
const file = process.env.DEMO_HOUR_FILE ?? "";
const SystemDate = Date;

const now = () => SystemDate.now() + (statSync(file, { throwIfNoEntry: false }) ? HOUR_MS : 0);

globalThis.Date = class extends SystemDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now()] : parts));
  }

  static now() {
    return now();
  }
};
