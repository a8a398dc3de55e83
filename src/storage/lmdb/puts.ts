/** The puts of a batch, in the form of `layout.ts`. */
import type { StoreEvent } from "../store.ts";
import { LogEncoder } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { encodeTransaction, isIndexed, type ListedChange, recordOf } from "./layout.ts";
import type { Step } from "./prepared-writes.ts";

const noBytes = Buffer.alloc(0);
const append = { append: true };

/** Puts changes into the databases. Its methods must be called in the write transaction. */
export class Puts {
  private readonly logEncoder = new LogEncoder();

  constructor(private readonly environment: Environment) {}

  /**
   * Puts the changes of a batch.
   *
   * @param hasTransaction whether several of them have the same revision.
   */
  all(steps: readonly Step[], hasTransaction: boolean): void {
    if (hasTransaction) for (const group of byRevision(steps)) this.group(group);
    else for (const step of steps) this.one(step);
  }

  /** Puts the change of a revision, or a discarded value. */
  private one(step: Step): void {
    const { history, log } = this.environment;
    const { write, event } = step;
    this.value(step);
    if (event === undefined || write.kind === "discard") return;
    const { kind, key } = write;
    const superseded = supersededBy(event);
    if (superseded !== undefined && isIndexed(kind, superseded))
      history.putSync([key, event.revision], noBytes);
    log.putSync(event.revision, this.logEncoder.encode(kind, key, superseded), append);
  }

  /** Puts the changes of one revision. */
  private group(group: readonly Step[]): void {
    const [first, second] = group;
    if (second === undefined) return this.one(first!);
    const { history, log } = this.environment;
    const changes: ListedChange[] = [];
    let revision = 0;
    for (const step of group) {
      this.value(step);
      const { write, event } = step;
      if (event === undefined || write.kind === "discard") continue;
      const { kind, key } = write;
      revision = event.revision;
      history.putSync([key, event.revision], this.logEncoder.encode(kind, "", supersededBy(event)));
      changes.push({ kind, key });
    }
    log.putSync(revision, encodeTransaction(changes), append);
  }

  private value({ write: { key }, record }: Step): void {
    const { data } = this.environment;
    if (record === undefined) data.removeSync(key);
    else data.putSync(key, record);
  }
}

function supersededBy({ previous }: StoreEvent): Buffer | undefined {
  return previous === undefined ? undefined : recordOf(previous);
}

/** Groups the steps of a batch by their revision, in order; a discarded value is a group of its own. */
function byRevision(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  let current: number | undefined;
  for (const step of steps) {
    const revision = step.event?.revision;
    if (revision !== undefined && revision === current) groups.at(-1)!.push(step);
    else groups.push([step]);
    current = revision;
  }
  return groups;
}
