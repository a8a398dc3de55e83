import { declarationsIn } from "../../schema/kind.ts";
import { admissionregistration } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(admissionregistration, "v1beta1");
