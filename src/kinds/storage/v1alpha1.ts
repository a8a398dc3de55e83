import { declarationsIn } from "../../schema/kind.ts";
import { storage } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(storage, "v1alpha1");
