import { declarationsIn } from "../../schema/kind.ts";
import { certificates } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(certificates, "v1alpha1");
