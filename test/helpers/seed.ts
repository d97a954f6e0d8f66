// test/helpers/seed.ts: the same random values in every run. `SEED=n` gives others.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_261_121) });
