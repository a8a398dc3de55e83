import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Clock } from "../../base/clock.ts";
import type { FairTurns } from "../../flow/fair-turns.ts";
import type { LargeRequest, LargeRequests } from "../../flow/large-requests.ts";
import { isEnvelope } from "../../schema/protobuf/envelope.ts";
import type { RequestContext, RequestPace } from "../request/context.ts";
import type { RequestLimiter } from "./limiter.ts";
import { awaitClient } from "./seat-release.ts";

/** Smaller bodies and objects are worked on in one go: some milliseconds at most. */
const largeBytes = 16 * 1024;
/** Memory that a large request is estimated to take: for each byte that is decoded, and for each value in it. */
const perByte = 8;
const perValue = 1000;
/** So many values a body may have, whatever its encoding. */
const maxValues = 200_000;

/** What requests are paced with. */
interface PaceParts {
  readonly clock: Clock;
  readonly limits: RequestLimiter;
  readonly turns: FairTurns;
  readonly largeRequests: LargeRequests;
}

/** The pace of the work on a request. */
export function paceOf(service: PaceParts, request: RequestContext): RequestPace {
  return (request.pace ??= new PacedRequest(service, request));
}

class PacedRequest implements RequestPace {
  private large: LargeRequest | undefined;
  /** Estimated memory of what is decoded first: the body, or the object where the body is small. */
  private first = 0;

  constructor(
    private readonly service: PaceParts,
    private readonly request: RequestContext,
  ) {}

  /** See {@link RequestPace.decodes}. While it waits and others need its seat, the request has none. */
  decodes(bytes: Uint8Array): MaybePromise<void> {
    if (bytes.length < largeBytes) return undefined;
    const { service, request } = this;
    this.large ??= service.largeRequests.request(request.user.name, request.exchange);
    const { large, first } = this;
    const memory = estimatedMemory(bytes);
    if (first === 0) this.first = memory;
    // Each attempt of a write decodes the object anew, in the place of the one before.
    const further = first + memory - large.bytes;
    const wait = further > 0 ? large.take(further) : undefined;
    return andThen(wait && awaitClient(service, request, wait), () => this.step());
  }

  get isLarge(): boolean {
    return this.large !== undefined;
  }

  /** See {@link RequestPace.step}. */
  step(): MaybePromise<void> {
    return this.large && this.service.turns.longStep(this.request.user.name);
  }

  /** The request is answered. */
  end(): void {
    this.large?.release();
  }
}

function estimatedMemory(bytes: Uint8Array): number {
  return bytes.length * perByte + estimatedValues(bytes) * perValue;
}

/**
 * The most values that a body may have: those of a text by the characters that separate them, those of a message as if each
 * took two bytes.
 */
function estimatedValues(bytes: Uint8Array): number {
  if (isEnvelope(bytes)) return Math.min(bytes.length / 2, maxValues);
  let separators = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === comma || byte === colon) separators++;
  }
  return Math.min(separators, maxValues);
}

const comma = 0x2c;
const colon = 0x3a;
