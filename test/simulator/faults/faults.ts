import { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { clusterFaults } from "./cluster-faults.ts";
import type { FaultClass } from "./fault-class.ts";
import { heal } from "./heal.ts";
import { processFaults } from "./process-faults.ts";

/** Injects faults into a world. Each seed chooses the classes, and how frequent they are. */
export class Faults {
  /** Number of faults by class. */
  readonly counts = new Map<string, number>();
  private readonly clock: ProcessClock;
  /** Ends the faults that have begun. */
  private readonly ends = new Set<() => void>();

  constructor(private readonly world: World) {
    this.clock = new ProcessClock(world.scheduler, "faults");
    const dice = world.dice("classes of faults");
    // Few classes at a time find more than all together, because each can stop the others' effects.
    const part = dice.pick([0.2, 0.5, 1]);
    const possible = world.memory === undefined ? [...processFaults, ...clusterFaults] : processFaults;
    for (const one of possible) {
      const rate = dice.pick([0.3, 1, 3]);
      if (dice.chance(part)) this.repeat(one, rate);
    }
  }

  /** Ends all faults; none begins after that. */
  stop(): void {
    this.clock.kill();
    for (const end of this.ends) end();
    heal(this.world);
    this.world.trace.add("faults", "end", "");
  }

  private repeat(kind: FaultClass, rate: number): void {
    const { world, clock, counts } = this;
    const dice = world.dice(`fault ${kind.name}`);
    const next = (): void => {
      clock.setTimer(begin, (-Math.log(1 - dice.next()) * kind.meanPauseMs) / rate);
    };
    const begin = (): void => {
      const fault = kind.begin(world, dice);
      if (fault === undefined) return next();
      counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
      world.trace.add("faults", kind.name, fault.text);
      const { end } = fault;
      this.ends.add(end);
      clock.setTimer(
        () => {
          world.trace.add("faults", `${kind.name} ends`, fault.text);
          this.ends.delete(end);
          end();
          next();
        },
        dice.next() ** 2 * kind.maxMs,
      );
    };
    next();
  }
}
