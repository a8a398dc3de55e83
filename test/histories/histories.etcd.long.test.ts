import { test } from "vitest";
import { etcdMissing } from "../storage/etcd-server.ts";
import { checkShortRun, shortRunTimeoutMs } from "./short-run.ts";

test.skipIf(etcdMissing !== undefined)(
  `servers over etcd under faults have a history without violations (${etcdMissing ?? ""})`,
  () => checkShortRun({ engine: "etcd", servers: 2, members: 3, seed: 2 }),
  shortRunTimeoutMs,
);

test.skipIf(etcdMissing !== undefined)(
  `servers over etcd under faults that keep the history of all resources have a history without violations (${etcdMissing ?? ""})`,
  () => checkShortRun({ engine: "etcd", servers: 2, members: 3, seed: 2, keepsHistory: true }),
  shortRunTimeoutMs,
);
