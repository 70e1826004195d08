/** Runs work under one name after the other: the second then finds what the first has stored. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(name, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}
