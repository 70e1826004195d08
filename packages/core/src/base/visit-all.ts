/**
 * Runs work on all items, in their order, at most `atOnce` at a time. Rejects with the first error; the
 * other items are still visited.
 */
export async function visitAll<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const visit = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, visit))
}
