import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DiskFillerApi } from "../children/disk-filler.ts";
import { Helper } from "../processes.ts";
import { valueRow } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { temporaryFolder } from "../subject.ts";

const withHistoryAim = 2.2;
const withoutHistoryAim = 1.4;

/** Bytes on the disk for each byte of the objects as clients send them. */
export const disk: Scenario = {
  name: "disk",
  remote: false,
  async *run({ options }: Bench) {
    const objects = options.full ? 1_000_000 : 50_000;
    const dir = temporaryFolder();
    const filler = Helper.start<DiskFillerApi>("children/disk-filler.ts");
    try {
      const plan = { dir: join(dir, "store"), objects, objectBytes: 1024 };
      const { created, updated, withoutHistory, compacted } = await filler.call("measure", plan);
      const many = objects.toLocaleString("en-US");
      yield valueRow(`disk for a byte of body, ${many} creates`, "B", created, withHistoryAim);
      yield valueRow(`disk for a byte of body, and ${many} updates`, "B", updated, withHistoryAim);
      yield valueRow("disk for a byte of body, history dropped", "B", withoutHistory, withoutHistoryAim);
      yield valueRow("disk for a byte of body, plinth compact", "B", compacted, withoutHistoryAim);
    } finally {
      await filler.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
