import { Name } from '@remit/contract'

const MAX_LENGTH = 200

/** A text of a configuration as a name that the inventory takes. Pure. */
export function shownName(text: string): string {
  const clean = text
    .normalize('NFC')
    .replaceAll(/\p{C}|\p{Default_Ignorable_Code_Point}|[^\P{Z} ]|\*/gu, '?')
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .trim()
  return Name.safeParse(clean).success ? clean : 'unnamed'
}
