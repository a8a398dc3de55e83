import { declarationsIn } from "../../schema/kind.ts";
import { resource } from "../groups.ts";

/** The words with which this group version is declared. */
export const { kind, struct, atomicStruct, union } = declarationsIn(resource, "v1alpha1");
