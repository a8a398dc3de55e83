import { jsonOf } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";

/** A webhook, or a policy with a binding and parameters. */
interface Called {
  /** Unique in one request. */
  readonly id: string;
  /** Whether its reinvocation policy is `IfNeeded`. */
  readonly reinvoked: boolean;
}

/**
 * Decides which webhooks of a request are reinvoked: those with `reinvocationPolicy: IfNeeded` that were called before the object
 * changed again, by a later webhook or by a plugin that was itself reinvoked.
 */
export class Reinvocation {
  /** Called webhooks with the policy IfNeeded that have seen the current object, by id. */
  private readonly upToDate = new Set<string>();
  private readonly outdated = new Set<string>();
  private output: string | undefined;

  /** Begins the second round; detects changes of the object after the first one. */
  begin(request: AdmissionRequest): void {
    if (this.output !== undefined && this.output !== textOf(request)) this.objectChanged();
  }

  /** The webhooks called so far have to be reinvoked. */
  objectChanged(): void {
    for (const id of this.upToDate) this.outdated.add(id);
    this.upToDate.clear();
  }

  /** Records the call of a webhook. */
  called({ id, reinvoked }: Called): void {
    if (reinvoked) this.upToDate.add(id);
  }

  /** Whether a webhook is called in the second round; never if it wasn't called in the first. */
  isNeeded({ id }: Pick<Called, "id">): boolean {
    return this.outdated.has(id);
  }

  /** Ends a round. */
  end(request: AdmissionRequest): void {
    if (this.upToDate.size > 0) this.output = textOf(request);
  }
}

function textOf({ object }: AdmissionRequest): string {
  return encodeJson(jsonOf(object!));
}
