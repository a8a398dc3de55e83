/** `npm run damage`: random damages of data files and backups. */
import path from "node:path";
import { mkdirSync } from "node:fs";
import { Dice } from "../support/dice.ts";
import { readFlags, runCommand } from "../support/long-run.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { DamagedBackup } from "./damaged-backup.ts";
import { DamagedStore } from "./damaged-store.ts";
import { damageKinds } from "./damages.ts";

const usage = `npm run damage -- [OPTIONS]

Damages copies of a server's data file and of a backup, runs "plinth check", "plinth serve" and "plinth restore" over them, and
compares what is served with the undamaged objects.

  --damages N    number of damages of the data file, and of the backup (default 1000)
  --first N      first seed (default 1); a failure prints its seed
`;

await runCommand(usage, async (args) => {
  const { damages, first } = readFlags(args, { damages: 1000, first: 1 });
  const folder = temporaryFolder();
  const totals = new Map<string, number>();
  const failures: string[] = [];
  const count = (outcome: string) => totals.set(outcome, (totals.get(outcome) ?? 0) + 1);
  const summary = () => [...totals].map(([outcome, times]) => `${outcome} ${times}`).join(", ");
  try {
    for (const name of ["store", "backup"]) mkdirSync(path.join(folder.path, name));
    const store = await DamagedStore.create(path.join(folder.path, "store"));
    const backup = await DamagedBackup.create(path.join(folder.path, "backup"), store.dataDir("clean"));
    for (let seed = first; seed < first + damages; seed++) {
      const dice = new Dice(seed);
      const { name, damage } = damageKinds[seed % damageKinds.length]!;
      try {
        const end = dice.pick(["clean", "killed"] as const);
        count(await store.examine(end, (bytes, earlier) => damage(bytes, dice, earlier)));
        count(`backup ${await backup.examine(dice)}`);
      } catch (error) {
        const message = `seed ${seed}, ${name}: ${error instanceof Error ? error.message : String(error)}`;
        failures.push(message);
        process.stdout.write(`${message}\n`);
      }
      if ((seed - first + 1) % 50 === 0) process.stdout.write(`${seed - first + 1} damages: ${summary()}\n`);
    }
  } finally {
    folder.remove();
  }
  process.stdout.write(`${damages} damages of the data file and of a backup: ${summary()}\n`);
  if (failures.length > 0) throw new Error(`${failures.length} failures; the first: ${failures[0]}`);
});
