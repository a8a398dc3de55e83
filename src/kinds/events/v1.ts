import { declarationsIn } from "../../schema/kind.ts";
import { events } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(events, "v1");
