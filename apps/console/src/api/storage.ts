/** A text that this browser keeps under a name; where it has no storage, nothing lasts. */
export function keptText(name: string, place: 'localStorage' | 'sessionStorage' = 'localStorage') {
  const listeners = new Set<() => void>()
  return {
    /** Null without one. */
    read: (): string | null => {
      try {
        return globalThis[place].getItem(name)
      } catch {
        return null
      }
    },
    /** Null removes it. */
    write: (text: string | null): void => {
      try {
        if (text === null) globalThis[place].removeItem(name)
        else globalThis[place].setItem(name, text)
      } catch {
        // See above.
      }
      for (const listener of listeners) listener()
    },
    /** For `useSyncExternalStore`. */
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
