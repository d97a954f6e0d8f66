// test/bench/usage.mjs: preloaded into a build; writes its processor time and memory to the file BENCH_USAGE.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  writeFileSync(String(process.env.BENCH_USAGE), JSON.stringify(process.resourceUsage()));
});
