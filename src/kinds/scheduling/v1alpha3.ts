import { declarationsIn } from "../../schema/kind.ts";
import { scheduling } from "../groups.ts";

/** Declares the structs of this group version. */
export const { struct } = declarationsIn(scheduling, "v1alpha3");
