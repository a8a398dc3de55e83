import { test } from "vitest";
import { postgresMissing } from "../storage/postgres-server.ts";
import { checkShortRun, shortRunTimeoutMs } from "./short-run.ts";

test.skipIf(postgresMissing !== undefined)(
  `servers over PostgreSQL under faults have a history without violations (${postgresMissing ?? ""})`,
  () => checkShortRun({ engine: "postgres", servers: 2, members: 0, seed: 2 }),
  shortRunTimeoutMs,
);

test.skipIf(postgresMissing !== undefined)(
  `servers over PostgreSQL under faults that keep the history of all resources have a history without violations (${postgresMissing ?? ""})`,
  () => checkShortRun({ engine: "postgres", servers: 2, members: 0, seed: 2, keepsHistory: true }),
  shortRunTimeoutMs,
);
