import type { Entry } from "../../storage/store.ts";

/** A cached encoding of the entries of a page. */
export interface PageForm {
  /** Its size in memory. */
  readonly bytes: number;
}

/** Maximum number of cached forms of a page; the oldest are evicted. */
const maxForms = 4;

/**
 * Cache of other forms of the entries of a cached page, such as the binary form or rows of a table; it is dropped with the page. Their
 * bytes count against the limits of the page cache.
 */
export class PageForms {
  private readonly forms = new Map<string, PageForm>();
  private dropped = false;
  /** Bytes of all forms. */
  bytes = 0;

  /** @param grow adds bytes (or, if negative, subtracts them) to the count of the cache; false if that exceeds the limit. */
  constructor(private readonly grow: (bytes: number) => boolean) {}

  /** The forms of the entries from index `from` to before index `to`. */
  stretch(from: number, to: number): StretchForms {
    return new StretchForms(this, `${from}-${to} `);
  }

  get(key: string): PageForm | undefined {
    return this.forms.get(key);
  }

  keep<F extends PageForm>(key: string, form: F): void {
    if (this.dropped) return;
    if (this.forms.has(key)) this.forget(key);
    else if (this.forms.size >= maxForms) this.forget(this.forms.keys().next().value!);
    if (!this.grow(form.bytes)) return;
    // `grow` may have evicted this page.
    if (this.dropped) return;
    this.forms.set(key, form);
    this.bytes += form.bytes;
  }

  /** Removes all forms for good, as the page is gone; returns their bytes. */
  drop(): number {
    this.dropped = true;
    return this.forgetAll();
  }

  /** Removes all forms; returns their bytes. */
  forgetAll(): number {
    const { bytes } = this;
    this.forms.clear();
    this.bytes = 0;
    return bytes;
  }

  private forget(key: string): void {
    const { bytes } = this.forms.get(key)!;
    this.forms.delete(key);
    this.bytes -= bytes;
    this.grow(-bytes);
  }
}

/** Some entries of a cached page, whose forms can be taken from those of the page. */
export interface PagePart {
  /** All entries of the page, and their forms. */
  readonly entries: readonly Entry[];
  readonly forms: StretchForms;
  /** The indexes of the part's entries, ascending. */
  readonly positions: readonly number[];
}

/** The forms of consecutive entries of a cached page. */
export class StretchForms {
  constructor(
    private readonly page: PageForms,
    private readonly stretch: string,
  ) {}

  /** @param key name of the form; each key belongs to one caller, which knows the type of the form. */
  get(key: string): PageForm | undefined {
    return this.page.get(this.stretch + key);
  }

  keep<F extends PageForm>(key: string, form: F): void {
    this.page.keep(this.stretch + key, form);
  }
}
