import { declarationsIn } from "../../schema/kind.ts";
import { autoscaling } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(autoscaling, "v1");
