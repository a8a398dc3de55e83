import { declarationsIn } from "../../schema/kind.ts";
import { flowcontrol } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(flowcontrol, "v1");
