import type { HealthCheck } from "../../http/documents/health.ts";
import { controllerCheckName } from "../start/start-hooks.ts";

/** A controller that has not begun yet, or how to ask one that has whether it can't follow what it works with. */
type State = "begins" | (() => boolean);

/**
 * How the controllers of a server are, for `/readyz`: one check a controller, `poststarthook/controllers/NAME`. A controller
 * that another server runs is well here.
 */
export class ControllerStates {
  /** Those that run here or are to. */
  private readonly states = new Map<string, State>();

  /** It is to run here, and doesn't know yet what is stored. */
  begins(name: string): void {
    this.states.set(name, "begins");
  }

  /** It has begun here. */
  runs(name: string, failing: () => boolean): void {
    this.states.set(name, failing);
  }

  /** It doesn't run here any more: another server may run it. */
  ended(name: string): void {
    this.states.delete(name);
  }

  /** The checks of controllers with these names. */
  checks(names: readonly string[]): readonly HealthCheck[] {
    return names.map((name) => ({
      name: controllerCheckName(name),
      check: () => this.problemOf(name),
    }));
  }

  private problemOf(name: string): string | undefined {
    const state = this.states.get(name);
    if (state === undefined) return undefined;
    if (state === "begins") return "the controller has not begun";
    return state() ? "what the controller works with can't be followed" : undefined;
  }
}
