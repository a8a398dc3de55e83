// The names in examples: those of the platform vocabulary until the reader chooses others.

/** The vocabularies, as the reader chooses them; the first is the default. */
export const vocabularyNames = { platform: "Platform names", kubernetes: "Kubernetes names" };

const storageKey = "plinth-vocabulary";

/** A script for the head of a page: shows the chosen vocabulary before the page is drawn. Without scripts the default is shown. */
export const earlyScript = `{
  let chosen = null;
  try {
    chosen = localStorage.getItem(${JSON.stringify(storageKey)});
  } catch {
    // A browser that keeps nothing shows the default.
  }
  document.documentElement.dataset.vocabulary = chosen === "kubernetes" ? "kubernetes" : "platform";
}`;

/** Lets the reader choose in each of the lists of a page: one is in the header, one in the menu of a narrow screen. */
export function offerVocabularies() {
  const { dataset } = document.documentElement;
  const lists = [...document.querySelectorAll(".vocabulary-select select")];
  const show = (vocabulary) => {
    dataset.vocabulary = vocabulary;
    for (const list of lists) list.value = vocabulary;
  };
  show(dataset.vocabulary ?? "platform");
  for (const list of lists) list.addEventListener("change", () => choose(list.value, show));
  // Another tab has chosen.
  addEventListener("storage", ({ key, newValue }) => {
    if (key === storageKey && newValue in vocabularyNames) show(newValue);
  });
}

function choose(vocabulary, show) {
  show(vocabulary);
  try {
    localStorage.setItem(storageKey, vocabulary);
  } catch {
    // The choice holds until the page is left.
  }
}
