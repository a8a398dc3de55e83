import { declarationsIn } from "../../schema/kind.ts";
import { flowcontrol } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(flowcontrol, "v1beta3");
