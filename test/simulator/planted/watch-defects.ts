import { lostAuthor, tornTransaction } from "../../support/planted-program.ts";
import type { PlantedDefect } from "./defects.ts";

const watches = "watches are complete";
const views = "views are complete";
const definitions = "watches follow the definition";

/** Former defects between the store and the clients of watches, views and subscriptions. */
export const watchDefects: readonly PlantedDefect[] = [
  {
    name: "a deferred batch is dropped before a synchronized watch has it",
    laws: [watches, views, definitions],
    patches: [
      {
        file: "src/storage/deferred-deliveries.ts",
        find:
          "      this.reached = Math.min(this.reached, (batch ?? this.batches.at(-1)!).upTo);\n" +
          "      if (batch === undefined) continue;\n",
        replace:
          "      if (batch === undefined) continue;\n      this.reached = Math.min(this.reached, batch.upTo);\n",
      },
    ],
  },
  {
    name: "watches of custom resources stay on the former definition",
    laws: [definitions],
    patches: [
      {
        file: "src/custom-resources/conversion/definition-watches.ts",
        find: "    this.isReplaced = true;\n    const watches = [...this.open];",
        replace: "    const watches: OpenWatch[] = [];",
      },
    ],
  },
  {
    name: "a subscription waits for the whole change of grants",
    laws: [views],
    patches: [
      {
        file: "src/resources/reads/merged-watch.ts",
        find: "    if (!this.closed && this.waits) this.deliverPart();\n",
        replace: "",
      },
    ],
  },
  {
    name: "a subscription resumes after a part of a change of grants",
    laws: [views],
    patches: [
      {
        file: "src/resources/reads/grant-changes.ts",
        find:
          "  const event = { key: previous.key, revision, entry: undefined, previous };\n" +
          '  return { type: "DELETED", event, shownRevision: (revision - 1) as Revision };',
        replace:
          "  const event = { key: previous.key, revision: (revision - 1) as Revision, entry: undefined, previous };\n" +
          '  return { type: "DELETED", event };',
      },
    ],
  },
  {
    name: "a watch that is cut within a transaction continues without the rest",
    laws: [watches, views],
    patches: [
      {
        file: "src/http/verbs/watch.ts",
        find: "  const repeatsTransaction = past === undefined;\n",
        replace: "  const repeatsTransaction = false;\n",
      },
    ],
  },
  {
    name: "a view gets one event of a transaction that changes grants",
    laws: [views],
    patches: [
      {
        file: "src/resources/reads/view-watch.ts",
        find: "    return changes.filter(({ event }) => event.revision === since);",
        replace: "    return changes.filter(({ event }) => event.revision === since).slice(0, 1);",
      },
    ],
  },
];

/** Defects of transactions and their kept history. */
export const transactionDefects: readonly PlantedDefect[] = [
  { ...tornTransaction, laws: ["transactions are whole"] },
  {
    name: "half of the events of a transaction are lost",
    laws: [watches, views],
    patches: [
      {
        file: "src/resources/reads/watch.ts",
        find: "    for (const event of this.batch) {\n",
        replace:
          "    for (const [index, event] of this.batch.entries()) {\n" +
          "      if (index % 2 === 1 && this.batch[index - 1]!.revision === event.revision) continue;\n",
      },
    ],
  },
  { ...lostAuthor, laws: ["history names the authors"] },
];
