import type { Revision } from "../../storage/store.ts";
import type { FaultyWatch } from "./faulty-watch.ts";

/** The state of a user's controller. */
export class FaultyUser {
  /** How often it has crashed. */
  life = 0;
  /** Whether it has crashed and was not restarted. */
  isDown = false;
  /** Number of its requests since the last `clear()`. */
  requests = 0;
  /** Its open watches, with whether they are of a client in the process. */
  readonly watches = new Map<FaultyWatch, boolean>();
  readonly onCrash = new Set<() => void | Promise<void>>();
  /** By resource type: the newest revision that it has seen in lists and watches since its start. */
  private readonly seen = new Map<string, number>();

  /** Whether a client from a life can't make requests any more. @param life undefined over HTTP. */
  isDead(life: number | undefined): boolean {
    return this.isDown || (life !== undefined && life < this.life);
  }

  /** Records that it has seen the state of a resource type at a revision. */
  saw(resource: string, revision: number): void {
    if (revision > (this.seen.get(resource) ?? 0)) this.seen.set(resource, revision);
  }

  /** The oldest revision of a resource type that it may still see. */
  notBefore(resource: string): Revision {
    return (this.seen.get(resource) ?? 0) as Revision;
  }

  /** Starts a new test, in which it runs. */
  reset(): void {
    this.isDown = false;
    this.requests = 0;
    this.seen.clear();
  }

  /** Stops it; returns its watches over HTTP, whose connections end. */
  crash(): FaultyWatch[] {
    this.life++;
    this.isDown = true;
    this.seen.clear();
    const watches = [...this.watches];
    this.watches.clear();
    for (const [watch, isInProcess] of watches) if (isInProcess) watch.close();
    return watches.filter(([, isInProcess]) => !isInProcess).map(([watch]) => watch);
  }
}
