import { declarationsIn } from "../../schema/kind.ts";
import { coordination } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(coordination, "v1beta1");
