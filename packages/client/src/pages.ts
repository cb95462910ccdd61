/**
 * Every item of a listing; each page is fetched when it is needed. Stop at any time; `after` continues after a known
 * item.
 */
export async function* eachOf<Page extends { readonly next: string | null }, Item>(
  readPage: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  after?: string,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor = after; ; ) {
    const page = await readPage(cursor);
    yield* itemsOf(page);
    if (page.next === null) return;
    cursor = page.next;
  }
}
