import { declarationsIn } from "../../schema/kind.ts";
import { storage } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(storage, "v1beta1");
