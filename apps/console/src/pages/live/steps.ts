/** The way from an empty organization to one that denies what no rule allows. */
export const STEPS = ['agent', 'decision', 'limit', 'rule', 'approver', 'deny'] as const
export type Step = (typeof STEPS)[number]

const NAME = 'remit.console.first-steps'

export function hide(): void {
  try {
    localStorage.setItem(NAME, 'hidden')
  } catch {
    // Without storage, the list is back with the next load.
  }
}

export function isHidden(): boolean {
  try {
    return localStorage.getItem(NAME) === 'hidden'
  } catch {
    return false
  }
}
