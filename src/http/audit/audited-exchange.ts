import type { BodyStream, Exchange, HeaderLines, UpgradeOffer } from "../exchange.ts";
import { WithHeaders } from "../extra-headers.ts";
import type { AuditTrail } from "./trail.ts";

/** An exchange whose answer tells the request's trail when it begins. */
export class AuditedExchange extends WithHeaders {
  constructor(
    inner: Exchange,
    private readonly trail: AuditTrail,
  ) {
    super(inner, []);
  }

  override get audit(): AuditTrail {
    return this.trail;
  }

  override send(status: number, headers: HeaderLines, body: Uint8Array): void {
    this.trail.started(status);
    super.send(status, headers, body);
  }

  override stream(status: number, headers: HeaderLines, trailing?: boolean): BodyStream {
    this.trail.started(status);
    return super.stream(status, headers, trailing);
  }

  override get upgrade(): UpgradeOffer | undefined {
    const offer = super.upgrade;
    if (offer === undefined) return undefined;
    return {
      protocol: offer.protocol,
      accept: (headers) => {
        this.trail.started(101);
        return offer.accept(headers);
      },
    };
  }
}
