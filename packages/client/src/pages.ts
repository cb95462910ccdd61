/** Every item of a listing, page by page: the next page is asked for when it is needed. Stop whenever you like; `after` starts behind a known one. */
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
