/** A child of `lmdb-faults.test.ts`: writes until the store is full, then reports what happened as one line of JSON. */
import { systemClock } from "../../src/base/time/clock.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { fillUp } from "./fill-up.ts";

const store = openLmdbStore({ dir: process.argv[2] ?? "", clock: systemClock });
const outcome = await fillUp(store);
await store.close();
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(0);
