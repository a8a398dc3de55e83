import { declarationsIn } from "../../schema/kind.ts";
import { authorization } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(authorization, "v1");
