import { Name } from '@remit/contract'
import { UNSEEN } from '@remit/contract/fit'

const MAX_LENGTH = 200

/** A text of a configuration as a name that the inventory takes. Pure. */
export function shownName(text: string): string {
  const clean = text
    .normalize('NFC')
    .replaceAll(UNSEEN, '?')
    .replaceAll('*', '?')
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .trim()
  return Name.safeParse(clean).success ? clean : 'unnamed'
}
