import { declarationsIn } from "../../schema/kind.ts";
import { admissionregistration } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(admissionregistration, "v1");
