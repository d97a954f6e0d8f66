// bench/usage.mjs: preloaded into a build, leaves what it took of processor and memory in the file BENCH_USAGE.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  writeFileSync(String(process.env.BENCH_USAGE), JSON.stringify(process.resourceUsage()));
});
