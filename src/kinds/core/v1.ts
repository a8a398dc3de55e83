import { declarationsIn } from "../../schema/kind.ts";
import { core } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(core, "v1");
