/**
 * `TICKETS_FAST_PATH=off` gives every row to csv-parse and every item to the schemas: slower, with the same rows and findings.
 * What it turns off is `fast/` of readers and checks.
 */
export const IS_FAST_PATH_ON = process.env.TICKETS_FAST_PATH !== "off";
