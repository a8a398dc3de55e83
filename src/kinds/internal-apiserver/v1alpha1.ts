import { declarationsIn } from "../../schema/kind.ts";
import { internalApiserver } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(internalApiserver, "v1alpha1");
