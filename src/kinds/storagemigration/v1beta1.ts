import { declarationsIn } from "../../schema/kind.ts";
import { storagemigration } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(storagemigration, "v1beta1");
