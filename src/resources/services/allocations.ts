import type { AddressObjects } from "./address-objects.ts";
import { addressIn, type ClaimName, type Claims } from "./claims.ts";

/** The claims of one write; a dry run only checks whether they are free. */
export class Allocations {
  /** The claims that this write acquired. */
  readonly acquired = new Set<ClaimName>();

  constructor(
    private readonly claims: Claims,
    private readonly objects: AddressObjects | undefined,
    private readonly owner: string,
    private readonly before: ReadonlySet<ClaimName>,
    private readonly dryRun: boolean,
  ) {}

  /** Whether the service has a claim, from before or by this write. */
  has(name: ClaimName): boolean {
    return this.before.has(name) || this.acquired.has(name);
  }

  /** Acquires a claim; false if any service has it, including this one, or if its address has an IPAddress object. */
  async acquire(name: ClaimName): Promise<boolean> {
    if (this.has(name) || (await this.claims.find(name)) !== undefined) return false;
    const { objects } = this;
    const address = objects === undefined ? undefined : addressIn(name);
    if (this.dryRun) {
      if (address !== undefined && (await objects!.find(address)) !== undefined) return false;
    } else {
      if (!(await this.claims.acquire(name, this.owner))) return false;
      this.acquired.add(name);
      if (address !== undefined && !(await objects!.create(address, this.owner))) return this.giveBack(name);
    }
    this.acquired.add(name);
    return true;
  }

  /** Releases a claim whose address has an object that the write didn't create. */
  private async giveBack(name: ClaimName): Promise<false> {
    this.acquired.delete(name);
    const claim = await this.claims.find(name);
    if (claim?.owner === this.owner) await this.claims.release(claim, []);
    return false;
  }
}
