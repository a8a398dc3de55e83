import { declarationsIn } from "../../schema/kind.ts";
import { authentication } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(authentication, "v1");
