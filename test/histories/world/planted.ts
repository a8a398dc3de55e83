import { tornTransaction, type PlantedDefect } from "../../support/planted-program.ts";
import { verify } from "./verify.ts";

/** Defects of a server with several workers over the embedded store. */
export const workerDefects: readonly PlantedDefect[] = [
  {
    name: "a worker does not refresh before decisions and lists",
    patches: [
      {
        file: "src/storage/lmdb/lmdb-store.ts",
        find: "refresh: () => this.readNewest(),",
        replace: "refresh: () => undefined,",
      },
    ],
  },
  tornTransaction,
  {
    name: "a watch that is cut within a transaction continues without the rest",
    patches: [
      {
        file: "src/http/verbs/watch.ts",
        find: "  const repeatsTransaction = past === undefined;\n",
        replace: "  const repeatsTransaction = false;\n",
      },
    ],
  },
];

/** How long a planted defect is searched, and how long a round is, in seconds. */
const [searchSeconds, roundSeconds] = [240, 15];

/** Runs a program with several workers until a law is violated; returns the violation, undefined if there is none in four minutes. */
export async function violationOf(program: string, seed: number): Promise<string | undefined> {
  const options = { engine: "lmdb", servers: 1, members: 0, workers: 3, clients: 12, program } as const;
  const { report } = await verify({ ...options, seed, seconds: searchSeconds, roundSeconds });
  const [violation] = report.violations;
  return violation && `${violation.law}: ${violation.message}`;
}
