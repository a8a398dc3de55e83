import { declarationsIn } from "../../schema/kind.ts";
import { apiregistration } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(apiregistration, "v1");
