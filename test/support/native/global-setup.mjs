import { compileAll } from "./compile.mjs";

/** Called once before a run: all files at once are compiled in a fraction of the time that each takes alone. */
export const setup = compileAll;
