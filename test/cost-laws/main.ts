/** `npm run cost-laws`: the growth of the time for every list and map of every built-in kind. */
import { TestServer } from "../support/api.ts";
import { readFlags, runCommand } from "../support/long-run.ts";
import { builtInCollections, nameOf } from "./collections.ts";
import { isTooFast } from "./growth.ts";
import { builtInGrowths } from "./built-in.ts";

const usage = `npm run cost-laws -- [OPTIONS]

Sends n, 2n and 4n entries of every list and map of the built-in kinds, and reports where the time grows faster than n log n.

  --only TEXT     only collections whose name contains the text, such as "Pod spec.containers"
  --slow N        also print collections that need more than this many milliseconds for 4n entries (default 500)
`;

await runCommand(usage, async (args) => {
  const { only, slow } = readFlags(args, { only: "", slow: 500 });
  const server = await TestServer.start();
  const failures: string[] = [];
  const collections = builtInCollections().filter((one) => nameOf(one).includes(only));
  try {
    for (const collection of collections) {
      for (const { request, growth, status } of await builtInGrowths(server.admin, collection)) {
        const [n, twice, fourTimes] = growth.map((ms) => ms.toFixed(1));
        const line = `${nameOf(collection)}, ${request} (${status}): ${n}, ${twice}, ${fourTimes} ms`;
        if (isTooFast(growth)) failures.push(line);
        if (isTooFast(growth) || growth[2] > slow || only !== "") process.stdout.write(`${line}\n`);
      }
    }
  } finally {
    await server.close();
  }
  process.stdout.write(`${collections.length} lists and maps; ${failures.length} grow faster than n log n\n`);
  if (failures.length > 0) throw new Error(failures.join("\n"));
});
