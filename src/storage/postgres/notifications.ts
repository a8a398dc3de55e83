import type { Clock, Timer } from "../../base/time/clock.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";

const retryFirstMs = 100;
const retryMostMs = 5000;

interface NotificationOptions {
  readonly connection: Connection;
  readonly channel: string;
  readonly clock: Clock;
  /** Called with the payload of a notification, and with undefined when some may have been missed. */
  readonly received: (payload: string | undefined) => void;
  /** Called when a notification could not be sent. */
  readonly failed: (error: unknown) => void;
}

/**
 * Sends and receives the notifications by which servers tell each other that the log has grown. They are hints: each may be lost, and the
 * log is read without them too. They are sent after the commit, in a transaction of their own: PostgreSQL serializes the commits of
 * all transactions that notify, in every database of the server.
 */
export class Notifications {
  private session: Session | undefined;
  private retry: Timer | undefined;
  private failures = 0;
  private closed = false;
  private sending = false;
  private next: string | undefined;
  private opening: Promise<void> | undefined;

  constructor(private readonly options: NotificationOptions) {
    this.open();
  }

  /** Sends a payload to all servers. Of payloads that wait for an earlier one, only the last is sent. */
  send(payload: string): void {
    this.next = payload;
    if (!this.sending) detach(this.sendAll(), this.options.failed);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.retry?.cancel();
    await this.opening;
    await this.session?.close();
  }

  private async sendAll(): Promise<void> {
    this.sending = true;
    const { connection, channel } = this.options;
    while (this.next !== undefined && this.session?.isOpen === true) {
      const payload = this.next;
      this.next = undefined;
      try {
        await this.session.query(
          { text: "select pg_notify($1, $2)", values: [channel, payload] },
          connection.timeoutMs,
        );
      } catch (error) {
        // The other servers find the change by their polls.
        if (!this.closed) this.options.failed(error);
      }
    }
    this.sending = false;
  }

  private open(): void {
    this.opening = this.listen().catch(() => this.openLater());
  }

  private async listen(): Promise<void> {
    const { connection, channel, received } = this.options;
    const session = await connection.connect(() => this.openLater());
    session.onNotification = (payload) => {
      if (!this.closed) received(payload);
    };
    this.session = session;
    try {
      await session.query({ text: `listen ${channel}` }, connection.timeoutMs);
    } catch (error) {
      session.destroy();
      throw error;
    }
    this.failures = 0;
    if (this.closed) await session.close();
    else received(undefined);
  }

  private openLater(): void {
    if (this.closed || this.retry !== undefined) return;
    this.session = undefined;
    const delayMs = Math.min(retryFirstMs * 2 ** this.failures++, retryMostMs);
    this.retry = this.options.clock.setTimer(() => {
      this.retry = undefined;
      this.open();
    }, delayMs);
  }
}
