import type { CelFunction, FunctionTable } from "./function-table.ts";
import { conversions } from "./functions/conversions.ts";
import { listFunctions } from "./functions/lists.ts";
import { operators } from "./functions/operators.ts";
import { regularExpressionFunctions } from "./functions/regular-expressions.ts";
import { textFunctions } from "./functions/texts.ts";
import { timeFunctions } from "./functions/time-functions.ts";
import { urlFunctions } from "./functions/urls.ts";

/** All functions: the standard ones and the libraries of Kubernetes 1.26. */
export const functions: FunctionTable = new Map<string, CelFunction>([
  ...operators,
  ...conversions,
  ...textFunctions,
  ...regularExpressionFunctions,
  ...listFunctions,
  ...timeFunctions,
  ...urlFunctions,
]);
