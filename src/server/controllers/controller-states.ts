import type { HealthCheck } from "../../http/documents/health.ts";
import { controllerCheckName } from "../start/start-hooks.ts";

/**
 * The state of a controller: `begins` until it has started, then a function that returns whether its informers fail.
 */
type State = "begins" | (() => boolean);

/**
 * The states of a server's controllers, for `/readyz`: one check per controller, `poststarthook/controllers/NAME`.
 * The check of a controller that runs on another server passes.
 */
export class ControllerStates {
  /** The controllers that run or will run on this server. */
  private readonly states = new Map<string, State>();

  /** Marks the controller as starting on this server. */
  begins(name: string): void {
    this.states.set(name, "begins");
  }

  /** Marks the controller as started on this server. */
  runs(name: string, failing: () => boolean): void {
    this.states.set(name, failing);
  }

  /** Marks the controller as not running here; another server may run it. */
  ended(name: string): void {
    this.states.delete(name);
  }

  /** Returns the health checks of these controllers. */
  checks(names: readonly string[]): readonly HealthCheck[] {
    return names.map((name) => ({
      name: controllerCheckName(name),
      check: () => this.problemOf(name),
    }));
  }

  private problemOf(name: string): string | undefined {
    const state = this.states.get(name);
    if (state === undefined) return undefined;
    if (state === "begins") return "the controller has not started";
    return state() ? "an informer of the controller fails" : undefined;
  }
}
