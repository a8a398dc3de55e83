import { declarationsIn } from "../../schema/kind.ts";
import { history } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct } = declarationsIn(history, "v1alpha1");
