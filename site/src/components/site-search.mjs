import { searchOptions } from "../search-options.mjs";

const shownResults = 20;

/** The search of the site: a button and a dialog with an input and the results. */
export class SiteSearch extends HTMLElement {
  /** @type {Promise<import("minisearch").default> | undefined} */
  #index;

  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.status = this.querySelector("[data-status]");
    this.list = this.querySelector("ol");
    this.querySelector("[data-open]").addEventListener("click", () => this.#open());
    this.input.addEventListener("input", () => this.#search());
    this.dialog.addEventListener("keydown", (event) => this.#move(event));
    this.dialog.addEventListener("click", ({ target }) => {
      // A link to a section of the same page loads no other page; the area around the dialog is the dialog itself.
      if (target === this.dialog || target.closest("a") !== null) this.dialog.close();
    });
    this.querySelector("form").addEventListener("submit", (event) => {
      if (event.submitter !== null && event.submitter.matches("button:focus")) return;
      event.preventDefault();
      this.list.querySelector("a")?.click();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select") !== null;
      const opens = event.key === "/" ? !isTyping : event.key === "k" && (event.ctrlKey || event.metaKey);
      if (!opens) return;
      event.preventDefault();
      this.#open();
    });
  }

  #open() {
    if (!this.dialog.open) this.dialog.showModal();
    this.input.focus();
    this.input.select();
    this.#search();
  }

  async #search() {
    try {
      this.#index ??= loadIndex(this.dataset.base);
      const index = await this.#index;
      const words = this.input.value;
      const results = index.search(words);
      this.list.replaceChildren(...results.slice(0, shownResults).map((result) => this.#item(result)));
      this.status.textContent = statusOf(words, results.length);
    } catch (error) {
      // The next input tries again.
      this.#index = undefined;
      this.status.textContent = `The search index can't be loaded: ${error.message}`;
    }
  }

  #item({ address, page, title }) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = this.dataset.base + address;
    link.append(title);
    if (title !== page) {
      const name = document.createElement("small");
      name.append(page);
      link.append(name);
    }
    item.append(link);
    return item;
  }

  /** The arrow keys move between the input and the results. Escape closes the dialog, also where it would clear the input. */
  #move(event) {
    if (event.key === "Escape") this.dialog.close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const stops = [this.input, ...this.list.querySelectorAll("a")];
    stops[stops.indexOf(document.activeElement) + step]?.focus();
  }
}

async function loadIndex(base) {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import("minisearch"),
    fetch(`${base}search-index.json`),
  ]);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), searchOptions);
}

function statusOf(words, count) {
  if (words.trim() === "") return "Type words to find sections of the documentation.";
  if (count === 0) return "Nothing found.";
  const results = count === 1 ? "1 result" : `${count} results`;
  return count > shownResults ? `${results}; the first ${shownResults} are shown.` : `${results}.`;
}
