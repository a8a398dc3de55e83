import { addressExpressions } from "./addresses.ts";
import { libraryExpressions } from "./libraries.ts";
import { macroExpressions } from "./macros.ts";
import { optionalExpressions } from "./optionals.ts";

/** Expressions without variables whose results in the reference are recorded; see `../record.ts`. */
export const expressions: readonly string[] = [
  ...new Set([...addressExpressions, ...optionalExpressions, ...macroExpressions, ...libraryExpressions]),
];
