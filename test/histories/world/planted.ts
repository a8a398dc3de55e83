import { tornTransaction, type PlantedDefect } from "../../support/planted-program.ts";
import { workspaceDefects } from "../../support/planted-workspaces.ts";
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
  ...workspaceDefects,
];

/** How long a planted defect is searched, how long a round is, and for how long history is kept at least, in seconds. */
const [searchSeconds, roundSeconds, retentionSeconds] = [240, 15, 6];

/** Runs a program with several workers until a law is violated; returns the violation, undefined if there is none in four minutes. */
export async function violationOf(program: string, seed: number): Promise<string | undefined> {
  const options = {
    engine: "lmdb",
    servers: 1,
    members: 0,
    workers: 3,
    workspaces: 1,
    clients: 12,
    program,
  } as const;
  const { report } = await verify({
    ...options,
    seed,
    seconds: searchSeconds,
    roundSeconds,
    retentionSeconds,
  });
  const [violation] = report.violations;
  return violation && `${violation.law}: ${violation.message}`;
}
