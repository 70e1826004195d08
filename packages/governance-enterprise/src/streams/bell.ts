/** A wake-up signal; it stays set until the next wait. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  wait(ms: number, over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        over.removeEventListener('abort', done)
        this.#wake = null
        this.#isRung = false
        resolve()
      }
      const timer = setTimeout(done, ms).unref()
      over.addEventListener('abort', done)
      this.#wake = done
      if (this.#isRung || over.aborted) done()
    })
  }
}
