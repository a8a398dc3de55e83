export function AccessView({ place }: { readonly place: { readonly tab: string } }) {
  return <p>{place.tab}</p>;
}
