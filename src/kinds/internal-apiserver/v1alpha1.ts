import { declarationsIn } from "../../schema/kind.ts";
import { internalApiserver } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(internalApiserver, "v1alpha1");
