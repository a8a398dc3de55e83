/** A child of `lmdb-stopped-writer.test.ts`: takes the right to write to a folder, and stops itself while it has it. */
import { writeSync } from "node:fs";
import { acquireEnvironment, defaultMapBytes } from "../../src/storage/lmdb/environment.ts";

const { root } = acquireEnvironment(process.argv[2] ?? "", defaultMapBytes);
root.transactionSync(() => {
  writeSync(1, "writing\n");
  process.kill(process.pid, "SIGSTOP");
});
await root.close();
