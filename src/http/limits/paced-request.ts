import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { FairTurns } from "../../flow/fair-turns.ts";
import type { LargeRequest, LargeRequests } from "../../flow/large-requests.ts";
import { isEnvelope } from "../../schema/protobuf/envelope.ts";
import { accountOf, type RequestContext, type RequestPace } from "../request/context.ts";
import { awaitClient } from "./fair-limiter.ts";

/** Bytes below which a body or object is processed in one step of a few milliseconds. */
const largeBytes = 16 * 1024;
/** Estimated memory of a large request: bytes for each decoded byte and for each value. */
const perByte = 8;
const perValue = 1000;
/** Maximum number of values in a body, in any encoding. */
const maxValues = 200_000;

/** Dependencies of {@link paceOf}. */
interface PaceParts {
  readonly clock: Clock;
  readonly turns: FairTurns;
  readonly largeRequests: LargeRequests;
}

/** Returns the pace of a request, always the same. */
export function paceOf(service: PaceParts, request: RequestContext): RequestPace {
  return (request.pace ??= new PacedRequest(service, request));
}

class PacedRequest implements RequestPace {
  private large: LargeRequest | undefined;
  /** Estimated memory of the body, or of the stored object if the body is small. */
  private first = 0;

  constructor(
    private readonly service: PaceParts,
    private readonly request: RequestContext,
  ) {}

  /** See {@link RequestPace.decodes}. While it waits, the request yields its seat to waiting requests. */
  decodes(bytes: Uint8Array): MaybePromise<void> {
    return bytes.length < largeBytes ? undefined : this.decodesLarge(bytes);
  }

  private async decodesLarge(bytes: Uint8Array): Promise<void> {
    const { service, request } = this;
    this.large ??= service.largeRequests.request(accountOf(request), request.exchange);
    const { large, first } = this;
    // The estimate reads all bytes, which takes some milliseconds.
    await this.step();
    const memory = estimatedMemory(bytes);
    if (first === 0) this.first = memory;
    // Each attempt of a write decodes the stored object again and drops the previous one.
    const further = first + memory - large.bytes;
    const wait = further > 0 ? large.take(further) : undefined;
    if (wait !== undefined) await awaitClient(service, request, wait);
    await this.step();
  }

  get isLarge(): boolean {
    return this.large !== undefined;
  }

  /** See {@link RequestPace.step}. */
  step(): MaybePromise<void> {
    return this.large && this.service.turns.longStep(accountOf(this.request));
  }

  /** See {@link RequestPace.end}. */
  end(): void {
    this.large?.release();
  }
}

function estimatedMemory(bytes: Uint8Array): number {
  return bytes.length * perByte + estimatedValues(bytes) * perValue;
}

/**
 * Upper estimate of the number of values: a text has one for each comma and colon, a protobuf message one for two bytes, an array or
 * map in CBOR one for each byte.
 */
function estimatedValues(bytes: Uint8Array): number {
  if (isEnvelope(bytes)) return Math.min(bytes.length / 2, maxValues);
  if (bytes[0]! >= firstCborContainer) return Math.min(bytes.length, maxValues);
  let separators = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === comma || byte === colon) separators++;
  }
  return Math.min(separators, maxValues);
}

/** Least initial byte of an array, map or tag in CBOR. JSON and YAML begin with a lower one, as their bodies are objects in ASCII. */
const firstCborContainer = 0x80;
const comma = 0x2c;
const colon = 0x3a;
