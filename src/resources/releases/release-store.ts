import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { mapInTurns } from "../../base/turns/yielding.ts";
import { checkSize } from "../objects/stored.ts";
import { entryWith } from "../../storage/entry.ts";
import { StoreView } from "../../storage/store-view.ts";
import type {
  CommitResult,
  Deferral,
  Entry,
  Listener,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  StoreEvent,
  SubscribeOptions,
  Subscription,
  TransactionResult,
  Write,
} from "../../storage/store.ts";
import type { StoredForms } from "./stored-forms.ts";

/** Entries up to this size in total are read without a pause for other work. */
const maxBytesWithoutPause = 64 * 1024;

/**
 * A store to which other releases wrote, as the server's release knows it: entries have the form of this release, without the fields of
 * later ones, and updates keep these fields.
 */
export class ReleaseStore extends StoreView {
  private readonly events = new WeakMap<StoreEvent, StoreEvent>();
  private readonly batches = new WeakMap<readonly StoreEvent[], readonly StoreEvent[]>();
  private readonly entries = new WeakMap<Entry, Entry>();

  constructor(
    inner: Store,
    private readonly forms: StoredForms,
  ) {
    super(inner);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return andThen(this.inner.get(key, at), (entry) => (entry === undefined ? undefined : this.show(entry)));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    return andThen(this.inner.range(options), (page) => {
      let bytes = 0;
      for (const { key, body } of page.entries) if (this.forms.concerns(key)) bytes += body.length;
      if (bytes === 0) return page;
      const show = (entry: Entry) => this.show(entry);
      const entries = bytes <= maxBytesWithoutPause ? page.entries.map(show) : mapInTurns(page.entries, show);
      return andThen(entries, (views) =>
        views.every((entry, index) => entry === page.entries[index]) ? page : { ...page, entries: views },
      );
    });
  }

  async commit(write: Write): Promise<CommitResult> {
    const result = await this.inner.commit(write.kind === "update" ? await this.complete(write) : write);
    if (result.ok) return { ...result, entry: this.show(result.entry) };
    return result.current === undefined ? result : { ...result, current: this.show(result.current) };
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const complete: Write[] = [];
    for (const write of writes) complete.push(write.kind === "update" ? await this.complete(write) : write);
    const result = await this.inner.transact(complete);
    if (result.ok) return { ...result, entries: result.entries.map((entry) => this.show(entry)) };
    return result.current === undefined ? result : { ...result, current: this.show(result.current) };
  }

  /** Adds the fields of later releases that the stored object has. */
  private async complete(write: Write & { readonly kind: "update" }): Promise<Write> {
    const { key, expected, draft } = write;
    if (!this.forms.concerns(key)) return write;
    const before = await this.inner.get(key);
    // Any other state is a conflict.
    if (before?.revision !== expected || !this.forms.mayDiffer(before)) return write;
    const complete = this.forms.complete(entryWith(before, draft), before);
    if (complete === undefined) return write;
    checkSize(complete);
    return { ...write, draft: complete };
  }

  override subscribe({ deferral, ...options }: SubscribeOptions, listener: Listener): Subscription {
    const view: Listener = {
      events: (batch, upTo) => listener.events(this.showBatch(batch), upTo),
      ended: (error) => listener.ended(error),
      ...(listener.drained && { drained: () => listener.drained!() }),
    };
    return this.inner.subscribe(
      { ...options, ...(deferral && { deferral: this.viewDeferral(deferral) }) },
      view,
    );
  }

  private viewDeferral(deferral: Deferral): Deferral {
    return { key: deferral.key, selects: (batch) => deferral.selects(this.showBatch(batch)) };
  }

  private showBatch(batch: readonly StoreEvent[]): readonly StoreEvent[] {
    let view = this.batches.get(batch);
    if (view === undefined) {
      const events = batch.map((event) => this.showEvent(event));
      view = events.some((event, index) => event !== batch[index]) ? events : batch;
      this.batches.set(batch, view);
    }
    return view;
  }

  private showEvent(event: StoreEvent): StoreEvent {
    if (!this.forms.concerns(event.key)) return event;
    let view = this.events.get(event);
    if (view === undefined) {
      const entry = event.entry && this.show(event.entry);
      const previous = event.previous && this.show(event.previous);
      const isSame = entry === event.entry && previous === event.previous;
      this.events.set(event, (view = isSame ? event : { ...event, entry, previous }));
    }
    return view;
  }

  /** Returns the same entry for the same one, so that values derived from it can be kept with it. */
  private show(entry: Entry): Entry {
    if (!this.forms.mayDiffer(entry)) return entry;
    let view = this.entries.get(entry);
    if (view === undefined) this.entries.set(entry, (view = this.forms.show(entry)));
    return view;
  }
}
