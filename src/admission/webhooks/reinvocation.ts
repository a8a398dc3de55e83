import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Webhook } from "./webhook.ts";

/**
 * Which webhooks of one request are asked again, in its second round: those that want to be (`reinvocationPolicy: IfNeeded`),
 * and after which something changed the object: a later webhook, or a plugin of the second round.
 */
export class Reinvocation {
  /** Those that were asked and want to be asked again. */
  private readonly asked = new Set<string>();
  private readonly wanted = new Set<string>();
  private output: string | undefined;

  /** Begins the second round: whether plugins have changed the object since the webhooks saw it. */
  begin(request: AdmissionRequest): void {
    if (this.output !== undefined && this.output !== textOf(request)) this.changed();
  }

  /** Something changed the object: whoever was asked before is to be asked again. */
  changed(): void {
    for (const id of this.asked) this.wanted.add(id);
    this.asked.clear();
  }

  /** A webhook was asked. */
  called({ id, reinvoked }: Webhook): void {
    if (reinvoked) this.asked.add(id);
  }

  /** Whether a webhook is asked in the second round; one that wasn't in the first isn't. */
  isWanted({ id }: Webhook): boolean {
    return this.wanted.has(id);
  }

  /** Ends the first round. */
  end(request: AdmissionRequest): void {
    if (this.asked.size > 0) this.output = textOf(request);
  }
}

function textOf({ object }: AdmissionRequest): string {
  return encodeJson(object as unknown as JsonValue);
}
