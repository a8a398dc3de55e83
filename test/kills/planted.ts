import { tornTransaction, type PlantedDefect } from "../support/planted-program.ts";

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
  {
    name: "half of the records of a transaction have no author",
    patches: [
      {
        file: "src/storage/history/recorder.ts",
        find: "      const records = await Promise.all(planned.map((record) => this.recordOf(record, attempt > 0)));",
        replace:
          "      const records = await Promise.all(\n" +
          "        planned.map((record, index) =>\n" +
          "          this.recordOf(index % 2 === 0 ? record : { ...record, write: { ...record.write, origin: undefined } }, attempt > 0),\n" +
          "        ),\n" +
          "      );",
      },
    ],
  },
];
