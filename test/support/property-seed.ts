import fc from "fast-check";

// The same in every run, so that a walk that passed passes again. To hunt, set another.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED) });
