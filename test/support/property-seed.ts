import fc from "fast-check";

// The same in every run, so that a walk that passed passes again. To hunt, set another, and `RUNS` for the properties that have it.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED) });
