import type { Route } from "../model/routes.ts";
import { isFavorite, toggleFavorite } from "../state/saved-places.ts";

/** Marks a place, with its filters, as a favorite of the sidebar. */
export function FavoriteButton({ place }: { readonly place: Route }) {
  const isMarked = isFavorite(place);
  return (
    <button
      type="button"
      class="quiet star"
      aria-pressed={isMarked}
      aria-label="Favorite"
      title={isMarked ? "Remove from the favorites" : "Add to the favorites, with the filters"}
      onClick={() => toggleFavorite(place)}
    >
      {isMarked ? "★" : "☆"}
    </button>
  );
}
