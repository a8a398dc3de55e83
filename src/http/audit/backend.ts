import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { AuditEvent } from "./event.ts";

/** Where the texts of events go. */
export interface EventOutput {
  /**
   * Takes the text of one event. One that is urgent has gone out when this returns, or its promise resolves, where the
   * output blocks; others soon after. The output reports what is lost by the callback that it was made with.
   *
   * @returns false when it is lost.
   */
  write(text: string, urgent: boolean): MaybePromise<boolean>;
  /** Hands over everything that was taken. */
  close(): Promise<void>;
}

/** How a backend treats events. */
export interface BackendOptions {
  readonly format: (event: AuditEvent) => string;
  readonly output: EventOutput;
  /** Bytes of an event above which its objects are left out, and then the event; undefined: any number. */
  readonly maxEventBytes: number | undefined;
  /** The annotation of an event without its objects. */
  readonly truncatedKey: string;
  /** Whether a request that can't be recorded must not be served. */
  readonly strict: boolean;
  /** Told of an event that is too large even without its objects. */
  readonly tooLarge: () => void;
}

/** One place to which all events go, in one form. */
export class AuditBackend {
  constructor(private readonly options: BackendOptions) {}

  /** Takes an event; see {@link EventOutput.write}. False when it is lost and must not be. */
  record(event: AuditEvent, urgent: boolean): MaybePromise<boolean> {
    const { output, strict } = this.options;
    const text = this.textOf(event);
    if (text === undefined) return true;
    const taken = output.write(text, urgent);
    return andThen(taken, (one) => one || !strict);
  }

  /** Hands over everything that was taken. */
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
  // A character has three bytes at most.
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;
}
