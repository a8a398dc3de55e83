import { StatusError } from "../../base/status-error.ts";

/** Maximum number of previews at once, of all users and of one. Each has a workspace in memory. */
const maxPreviews = 50;
const maxOfUser = 5;
const retryAfterSeconds = 5;

/** Bounds the previews that run at once: they wait without a seat, so no other limit does. */
export class PreviewSlots {
  private readonly byAccount = new Map<string, number>();
  private count = 0;

  /**
   * Runs a preview.
   *
   * @param account of the user.
   * @throws {StatusError} TooManyRequests
   */
  async use<T>(account: string, preview: () => Promise<T>): Promise<T> {
    const own = this.byAccount.get(account) ?? 0;
    if (own >= maxOfUser || this.count >= maxPreviews)
      throw new StatusError(
        "TooManyRequests",
        own >= maxOfUser
          ? `you have ${maxOfUser} previews in progress, the maximum; try again later`
          : `the server has ${maxPreviews} previews in progress, the maximum; try again later`,
        { retryAfterSeconds },
      );
    this.byAccount.set(account, own + 1);
    this.count++;
    try {
      return await preview();
    } finally {
      this.count--;
      const rest = this.byAccount.get(account)! - 1;
      if (rest === 0) this.byAccount.delete(account);
      else this.byAccount.set(account, rest);
    }
  }
}
