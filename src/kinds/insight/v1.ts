import { declarationsIn } from "../../schema/kind.ts";
import { insight } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(insight, "v1");
