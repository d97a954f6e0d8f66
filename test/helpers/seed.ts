// test/helpers/seed.ts: the same random values in every run, `SEED=n` gives others; and the same hints, whatever starts the tests.
import fc from "fast-check";

delete process.env.npm_config_user_agent;
fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_261_121) });
