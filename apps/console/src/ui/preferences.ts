import { useSyncExternalStore } from 'react'
import { keptText } from '../api/storage.ts'

const shortcuts = keptText('remit.console.shortcuts')

export const setShortcuts = (isOn: boolean): void => shortcuts.write(isOn ? 'on' : 'off')

/** True if shortcuts of a single key are on: WCAG 2.1.4 asks for a switch. */
export const useShortcuts = (): boolean =>
  useSyncExternalStore(shortcuts.subscribe, () => shortcuts.read() !== 'off')

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
