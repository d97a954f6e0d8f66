// Prints the totals of the test reports in .cache/ in one line.
import { existsSync, readFileSync } from "node:fs";

const names = ["tests", "e2e", "node-22", "newest-lts", "newest-lts-e2e"];
const reports = names.map((name) => `.cache/${name}.json`).filter(existsSync);
const runs = reports.map((file) => JSON.parse(readFileSync(file, "utf8")));
const sum = (field) => runs.reduce((total, run) => total + run[field], 0);
console.log(`${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed`);
