/** Something made of a page's entries that is worth keeping. */
export interface PageForm {
  /** Memory that it takes. */
  readonly bytes: number;
}

/** At most so many forms of a page are kept; those made longest ago go first. */
const maxForms = 4;

/**
 * Other forms of the entries of a cached page, such as the binary form or rows of a table: made by whoever needs them, kept with
 * the page, and dropped with it. Their bytes count against what the cache may take.
 */
export class PageForms {
  private readonly forms = new Map<string, PageForm>();
  private dropped = false;
  /** Bytes of all forms. */
  bytes = 0;

  /** @param grow takes note of so many bytes more (or fewer), unless there is no room for them: then nothing is kept. */
  constructor(private readonly grow: (bytes: number) => boolean) {}

  /** The part of the page between two of its entries, whose forms are kept apart. */
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
    // To grow may have dropped the page itself.
    if (this.dropped) return;
    this.forms.set(key, form);
    this.bytes += form.bytes;
  }

  /** Nothing is kept from now on: the page is gone. Gives the bytes that were. */
  drop(): number {
    this.dropped = true;
    return this.forgetAll();
  }

  /** Forgets what was kept. Gives its bytes. */
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

/** The forms of some neighbouring entries of a cached page. */
export class StretchForms {
  constructor(
    private readonly page: PageForms,
    private readonly stretch: string,
  ) {}

  /** @param key names the form; who reads a key is who kept it, so the type is known. */
  get(key: string): PageForm | undefined {
    return this.page.get(this.stretch + key);
  }

  keep<F extends PageForm>(key: string, form: F): void {
    this.page.keep(this.stretch + key, form);
  }
}
