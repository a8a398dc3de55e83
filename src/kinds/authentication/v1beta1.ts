import { declarationsIn } from "../../schema/kind.ts";
import { authentication } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(authentication, "v1beta1");
