import { collectionCases } from "./collections.ts";
import { depthCases } from "./depth.ts";
import { equalityCases } from "./equality.ts";
import { estimateCases } from "./estimates.ts";
import { listCases } from "./lists.ts";
import { nameCases } from "./names.ts";
import { numberCases } from "./numbers.ts";
import { ruleCases } from "./rules.ts";
import { textCases } from "./texts.ts";
import { timeCases } from "./times.ts";
import { urlCases } from "./urls.ts";
import type { ReferenceCase } from "../case.ts";

/** All cases with a recorded verdict of the reference; see `../record.ts`. */
export const referenceCases: readonly ReferenceCase[] = [
  ...depthCases,
  ...estimateCases,
  ...equalityCases,
  ...numberCases,
  ...textCases,
  ...collectionCases,
  ...nameCases,
  ...timeCases,
  ...urlCases,
  ...listCases,
  ...ruleCases,
];
