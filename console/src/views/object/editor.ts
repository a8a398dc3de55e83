import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colors are those of the page, so they follow its theme. */
const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--soft)" },
  { tag: [tags.keyword, tags.bool, tags.null], color: "var(--waiting)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "12px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--panel)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected)" },
});

/** An editor of YAML in an element of the page. */
export interface Editor {
  setText(text: string): void;
  destroy(): void;
}

/** @param changed called with the text after each change. */
export function createEditor(
  parent: HTMLElement,
  text: string,
  label: string,
  changed: (text: string) => void,
): Editor {
  // In a shadow tree the editor adopts style sheets; in the page it would create a style element, which the policy forbids.
  const shadow = parent.attachShadow({ mode: "open" });
  const view = new EditorView({
    parent: shadow,
    root: shadow,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        yaml(),
        syntaxHighlighting(colors),
        look,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) changed(view.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    destroy: () => view.destroy(),
  };
}
