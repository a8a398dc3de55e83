/** Lets the keyboard scroll tables that are wider than the page. */
export function watchTables() {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const table of document.querySelectorAll(".sl-markdown-content table")) observer.observe(table);
}
