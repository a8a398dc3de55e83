import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { AuditEvent } from "./event.ts";

/** A destination of all events. */
export interface EventBackend {
  /**
   * Records an event.
   *
   * @param urgent whether the event is recorded when the method returns or its promise resolves.
   * @returns false if a strict backend lost it.
   */
  record(event: AuditEvent, urgent: boolean): MaybePromise<boolean>;
  /** Writes all pending events. */
  close(): Promise<void>;
}

/** Destination of encoded events. */
export interface EventOutput {
  /**
   * Writes the text of one event. If the output blocks, an urgent event is written when the method returns or its
   * promise resolves; others are written soon afterwards. The output reports lost events by the callback of its
   * constructor.
   *
   * @returns false if the event is lost.
   */
  write(text: string, urgent: boolean): MaybePromise<boolean>;
  /** Writes all pending events. */
  close(): Promise<void>;
}

/** Options of {@link AuditBackend}. */
export interface BackendOptions {
  readonly format: (event: AuditEvent) => string;
  readonly output: EventOutput;
  /**
   * Maximum size of an event in bytes. Above it the objects are left out, then the event is dropped. Undefined for no
   * limit.
   */
  readonly maxEventBytes: number | undefined;
  /** Key of the annotation of an event without its objects. */
  readonly truncatedKey: string;
  /** Whether a request is rejected if it can't be recorded. */
  readonly strict: boolean;
  /** Called for an event that is too large even without its objects. */
  readonly tooLarge: () => void;
}

/** A destination of all events, with their encoding. */
export class AuditBackend implements EventBackend {
  constructor(private readonly options: BackendOptions) {}

  record(event: AuditEvent, urgent: boolean): MaybePromise<boolean> {
    const { output, strict } = this.options;
    const text = this.textOf(event);
    if (text === undefined) return true;
    const accepted = output.write(text, urgent);
    return andThen(accepted, (one) => one || !strict);
  }

  close(): Promise<void> {
    return this.options.output.close();
  }

  private textOf(event: AuditEvent): string | undefined {
    const { format, maxEventBytes, tooLarge } = this.options;
    const text = format(event);
    if (maxEventBytes === undefined || fits(text, maxEventBytes)) return text;
    const bare = format(this.withoutObjects(event));
    if (fits(bare, maxEventBytes)) return bare;
    tooLarge();
    return undefined;
  }

  private withoutObjects(event: AuditEvent): AuditEvent {
    const annotations = { ...event.annotations, [this.options.truncatedKey]: "true" };
    return { ...event, requestObject: undefined, responseObject: undefined, annotations };
  }
}

function fits(text: string, maxBytes: number): boolean {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;
}
