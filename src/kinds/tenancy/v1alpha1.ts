import { declarationsIn } from "../../schema/kind.ts";
import { tenancy } from "../groups.ts";

/** Declares the kinds and structs of this group version. */
export const { kind, struct } = declarationsIn(tenancy, "v1alpha1");
