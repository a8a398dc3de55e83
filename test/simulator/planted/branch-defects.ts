import { workspaceDefects } from "../../support/planted-workspaces.ts";
import type { PlantedDefect } from "./defects.ts";

/** Texts in the names of the defects of branches that lists show. */
const statesOfBranches = ["a pinned revision", "list in a branch"];

/** Defects of pins and derived stores. */
export const branchDefects: readonly PlantedDefect[] = workspaceDefects
  .filter(({ name }) => statesOfBranches.some((text) => name.includes(text)))
  .map((defect) => ({ ...defect, laws: ["branches keep the state of their base"] }));
