import path from "node:path";

/** The project's root folder. */
export const root = path.resolve(import.meta.dirname, "../..");

/** The built program; `npm test` builds it. */
export const program = path.join(root, "dist/plinth.js");
