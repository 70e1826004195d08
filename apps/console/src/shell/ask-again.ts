const NAME = 'remit.console.ask-again'

/**
 * Remembers until the next sign-in whether the identity provider must ask who it is: after a sign-out
 * that the provider does not know of, it would sign in the same person without a question.
 */
export function setAskAgain(isOn: boolean): void {
  try {
    if (isOn) sessionStorage.setItem(NAME, 'on')
    else sessionStorage.removeItem(NAME)
  } catch {
    // Without storage, a person can still ask for it: /console/login?prompt=login.
  }
}

export function asksAgain(): boolean {
  try {
    return sessionStorage.getItem(NAME) !== null
  } catch {
    return false
  }
}
