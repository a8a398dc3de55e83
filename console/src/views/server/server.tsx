export function ServerView() {
  return <p>server</p>;
}
