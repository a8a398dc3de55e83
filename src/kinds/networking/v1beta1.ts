import { declarationsIn } from "../../schema/kind.ts";
import { networking } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(networking, "v1beta1");
