import type { Target } from "../target.ts";
import { jsonTarget } from "./json.ts";

/** All targets, by name in alphabetical order. */
export const targets: readonly Target[] = [jsonTarget];
