import { useSyncExternalStore } from 'react'

const NAME = 'remit.console.shortcuts'
const listeners = new Set<() => void>()

const read = (): boolean => {
  try {
    return localStorage.getItem(NAME) !== 'off'
  } catch {
    return true
  }
}

export function setShortcuts(isOn: boolean): void {
  try {
    localStorage.setItem(NAME, isOn ? 'on' : 'off')
  } catch {
    // Without storage, the preference lasts until the page is left.
  }
  for (const listener of listeners) listener()
}

const narrow = matchMedia('(max-width: 720px)')

/** True where the page has the width of a phone, as the style sheets say. */
export const useNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )

/** True if shortcuts of a single key are on: WCAG 2.1.4 asks for a switch. */
export const useShortcuts = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, read)
