import { declarationsIn } from "../../schema/kind.ts";
import { transactions } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(transactions, "v1alpha1");
