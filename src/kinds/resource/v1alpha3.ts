import { declarationsIn } from "../../schema/kind.ts";
import { resource } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct, atomicStruct, union } = declarationsIn(resource, "v1alpha3");
