import { declarationsIn } from "../../schema/kind.ts";
import { discovery } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(discovery, "v1");
