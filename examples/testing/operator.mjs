// An operator: keeps a ConfigMap with the page of each Site, and reports it in the status of the Site.
// The tests in this folder run it in their own process, against a server in memory.

const sites = { apiVersion: "example.com/v1", kind: "Site" };
const pages = { apiVersion: "v1", kind: "ConfigMap" };
const fieldManager = "site-operator";

const systemClock = {
  setTimer(task, delayMs) {
    const timer = setTimeout(task, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * Runs the operator until `stop()`.
 *
 * @param client its access to the API, for example `server.as("site-operator")`
 * @param clock its timers, so that a test can move the time
 */
export class SiteOperator {
  #client;
  #clock;
  #watches = new Map();
  /** Keys of sites to reconcile; a key is in it once, however many events arrived. */
  #queue = new Set();
  #timers = new Set();
  #isRunning = false;
  #isStopped = false;

  constructor(client, clock = systemClock) {
    this.#client = client;
    this.#clock = clock;
  }

  async start() {
    await this.#follow(sites, ({ metadata }) => metadata);
    // A page that somebody changed or deleted is written again.
    await this.#follow(pages, ({ metadata: { namespace, ownerReferences = [] } }) => {
      const owner = ownerReferences.find(({ kind }) => kind === sites.kind);
      return owner && { namespace, name: owner.name };
    });
  }

  stop() {
    this.#isStopped = true;
    for (const watch of this.#watches.values()) watch.close();
    for (const timer of this.#timers) timer.cancel();
  }

  /** Lists and then watches a collection. When the watch ends, for example with 410, it starts again with a list. */
  async #follow(collection, siteOf) {
    const { items, resourceVersion } = await this.#client.list(collection);
    for (const item of items) this.#enqueue(siteOf(item));
    if (this.#isStopped) return;
    const watch = this.#client.watch(
      { ...collection, resourceVersion },
      ({ object }) => this.#enqueue(siteOf(object)),
      () => this.#retry(() => this.#follow(collection, siteOf)),
    );
    this.#watches.set(collection.kind, watch);
  }

  #enqueue(site) {
    if (site === undefined || this.#isStopped) return;
    this.#queue.add(`${site.namespace}/${site.name}`);
    void this.#run();
  }

  /** Reconciles one site after the other; a failure is tried again. */
  async #run() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (const key of this.#queue) {
      this.#queue.delete(key);
      const [namespace, name] = key.split("/");
      await this.#reconcile({ namespace, name }).catch(() =>
        this.#retry(() => this.#enqueue({ namespace, name })),
      );
    }
    this.#isRunning = false;
  }

  /** Tries something again after a moment, until it succeeds. */
  #retry(attempt) {
    if (this.#isStopped) return;
    const timer = this.#clock.setTimer(async () => {
      this.#timers.delete(timer);
      try {
        await attempt();
      } catch {
        this.#retry(attempt);
      }
    }, 5);
    this.#timers.add(timer);
  }

  /** Brings page and status in line with the site, whatever happened before. */
  async #reconcile({ namespace, name }) {
    const site = await this.#client.find({ ...sites, namespace, name });
    // The server deletes the page, because its owner is gone.
    if (site === undefined || site.metadata.deletionTimestamp !== undefined) return;
    const page = `${name}-page`;
    const owner = { ...sites, name, uid: site.metadata.uid, controller: true };
    await this.#client.apply(
      {
        ...pages,
        metadata: { name: page, namespace, ownerReferences: [owner] },
        data: { "index.html": `<h1>${site.spec.title}</h1>` },
      },
      { fieldManager, force: true },
    );
    if (site.status?.observedGeneration === site.metadata.generation) return;
    await this.#client.update(
      { ...site, status: { page, observedGeneration: site.metadata.generation } },
      "status",
    );
  }
}
