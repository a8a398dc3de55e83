/** So long after the requests of two users came between each other, several are taken to be at work. */
const togetherMs = 1000;

/** Knows whether several users are at work, or one alone, who needs not be held back for anybody. */
export class UsersAtWork {
  private last = "";
  private severalUntilMs = Number.NEGATIVE_INFINITY;

  /** A user's request has come. Times are milliseconds by any clock that is used throughout. */
  came(user: string, nowMs: number): void {
    if (user === this.last) return;
    this.last = user;
    this.severalUntilMs = nowMs + togetherMs;
  }

  areSeveral(nowMs: number): boolean {
    return nowMs < this.severalUntilMs;
  }
}
