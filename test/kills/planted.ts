import { workspaceDefects } from "../support/planted-workspaces.ts";
import { lostAuthor, tornTransaction, type PlantedDefect } from "../support/planted-program.ts";

/** Texts in the names of the defects of branches that their states show. */
const statesOfBranches = ["a pinned revision", "list in a branch"];

/** Defects of the embedded store and of transactions over it, which show when a process is killed. */
export const storeDefects: readonly PlantedDefect[] = [
  {
    name: "a write is acknowledged before its transaction is committed and synced",
    patches: [
      {
        file: "src/storage/lmdb/writer.ts",
        find: "            this.unacknowledged.add(batch);\n",
        replace:
          "            this.unacknowledged.add(batch);\n" +
          "            for (const { to, result } of batch.outcomes) to.resolve(result);\n",
      },
    ],
  },
  tornTransaction,
  lostAuthor,
  ...workspaceDefects.filter(({ name }) => statesOfBranches.some((text) => name.includes(text))),
];
